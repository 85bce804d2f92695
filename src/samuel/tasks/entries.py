"""Which headings and list items of an outline are tasks: the numbered ones, and those with a box."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from samuel.tasks.annotations import Title, title
from samuel.tasks.outline import BlockKind, OutlineBlock, OutlineHeading, OutlineItem, PrdOutline, split_box

_SECTION = re.compile(r"\b(tasks?|implementation|steps?|work items?)\b", re.IGNORECASE)
_LOOKS_LIKE_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\[[ xX]\]\s)")
_READABLE_BOXES = ("", " ", "x", "X")


@dataclass(eq=False)
class TaskEntry:
    """A heading or an item that is a task, with the lines below its title."""

    title: Title
    line: int
    below: int
    end: int
    done: bool
    level: int  # of a heading; 0 is an item
    parent: TaskEntry | None
    children: list[TaskEntry] = field(default_factory=list)

    def body(self, outline: PrdOutline) -> Iterator[tuple[str, bool]]:
        """Its lines, and whether each is code: without those of its children and without comments."""
        line = self.below
        for first, last in [*((child.line, child.end) for child in self.children), (self.end + 1, self.end)]:
            for number in range(line, first):
                if number not in outline.comment_lines:
                    yield outline.lines[number - 1].rstrip(), number in outline.code_lines
            line = last + 1


@dataclass
class TaskEntries:
    entries: list[TaskEntry] = field(default_factory=list)
    sections: list[OutlineHeading] = field(default_factory=list)  # where tasks were looked for
    unreadable: list[OutlineItem] = field(default_factory=list)  # their box or title cannot be read
    unnumbered: list[OutlineHeading] = field(default_factory=list)  # in a section, but neither tasks nor below one
    outside: list[OutlineItem] = field(default_factory=list)  # numbered items in no section
    lookalikes: list[tuple[int, BlockKind]] = field(
        default_factory=list
    )  # lines that look like items, but are not
    dividers: list[OutlineHeading] = field(
        default_factory=list
    )  # text that became a heading by the dashes below it


def find_entries(outline: PrdOutline, *, everywhere: bool = False) -> TaskEntries:
    """The tasks in the sections for tasks; with `everywhere` those of all checklists, and no headings."""
    search = _EntrySearch(outline, everywhere)
    for node in outline.nodes:
        match node:
            case OutlineHeading(parent=None):
                search.heading(node)
            case OutlineItem():
                search.item(node)
            case OutlineBlock(kind="paragraph" | "indented code" | "html"):
                search.text(node)
    return search.result


class _EntrySearch:
    def __init__(self, outline: PrdOutline, everywhere: bool) -> None:
        self.outline = outline
        self.everywhere = everywhere
        self.result = TaskEntries()
        self.section: OutlineHeading | None = None
        self.headings: list[TaskEntry] = []  # the numbered headings around the next node, the outermost first
        self.items: dict[OutlineItem, TaskEntry] = {}

    def heading(self, heading: OutlineHeading) -> None:
        if self.everywhere:
            return
        if self.section and heading.level <= self.section.level:
            if heading.underlined and not self.section.underlined:
                self.result.dividers.append(heading)
            self.section, self.headings = None, []
        if not self.section:
            if _SECTION.search(heading.text):
                self.section = heading
                self.result.sections.append(heading)
            return
        while self.headings and self.headings[-1].level >= heading.level:
            self.headings.pop()
        box, text = split_box(heading.text)
        words = title(text if box in (" ", "x", "X") else heading.text)
        if words.id and words.text:
            parent = self.headings[-1] if self.headings else None
            done = box in ("x", "X")
            self.headings.append(
                self._add(TaskEntry(words, heading.line, heading.below, heading.end, done, heading.level, parent))
            )
        elif not self.headings:
            self.result.unnumbered.append(heading)

    def item(self, item: OutlineItem) -> None:
        if item.box is None:
            return
        words = title(item.text)
        if not self._searching:
            if words.id:
                self.result.outside.append(item)
        elif item.box not in _READABLE_BOXES or not words.text:
            self.result.unreadable.append(item)
        else:
            parent = self._entry_around(item)
            if _is_task(words, parent):
                done = item.box in ("x", "X")
                self.items[item] = self._add(TaskEntry(words, item.line, item.line + 1, item.end, done, 0, parent))

    def text(self, block: OutlineBlock) -> None:
        """Remember what a person may have meant as an item, and Markdown takes for something else."""
        if not self._searching:
            return
        first = block.line + 1 if block.kind == "paragraph" else block.line
        for number in range(first, block.end + 1):
            line = self.outline.lines[number - 1]
            match = _LOOKS_LIKE_ITEM.match(line)
            if match and _is_task(title(split_box(line[match.end() :])[1]), self._entry_around(block)):
                self.result.lookalikes.append((number, block.kind))

    @property
    def _searching(self) -> bool:
        return self.everywhere or self.section is not None

    def _entry_around(self, node: OutlineItem | OutlineBlock) -> TaskEntry | None:
        item = node.parent
        while item:
            if item in self.items:
                return self.items[item]
            item = item.parent
        return self.headings[-1] if self.headings else None

    def _add(self, entry: TaskEntry) -> TaskEntry:
        self.result.entries.append(entry)
        if entry.parent:
            entry.parent.children.append(entry)
        return entry


def _is_task(words: Title, parent: TaskEntry | None) -> bool:
    """Below a numbered heading an item without a number is a part of that task: a step, a criterion."""
    return bool(words.id) or not (parent and parent.level)
