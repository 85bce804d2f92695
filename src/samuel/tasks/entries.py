"""Which headings, list items and table rows of an outline are tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from samuel.tasks.annotations import Title, title
from samuel.tasks.headings import CRITERIA, GROUP, SECTIONS, STORY, SectionHeading, classify, is_ambiguous
from samuel.tasks.outline import (
    OutlineBlock,
    OutlineHeading,
    OutlineItem,
    OutlineNode,
    OutlineTable,
    PrdOutline,
    split_box,
)

_LOOKS_LIKE_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\[[ xX]\]\s)")
_WITHOUT_SPACE = re.compile(r"\s*[-*+]\[[ xX]?\]\s")
_NO_TASK = "so it is not read as a task"
_OUTSIDE = "is in no section for tasks"
_DIVIDER = "is a heading by the line below it, and ends the section for tasks: put an empty line between the two"
_UNSPACED = f"is no item of a list in Markdown, {_NO_TASK}: put a space between the bullet and the box"
_LOOKALIKES = {
    kind: f"is part of {block} in Markdown, {_NO_TASK}: {hint}"
    for kind, block, hint in (
        ("paragraph", "the paragraph above", "indent it like the items around it, or put an empty line above it"),
        ("indented code", "indented code", "indent it less"),
        ("html", "a block of HTML", "put an empty line above it"),
    )
}
_READABLE_BOXES = ("", " ", "x", "X")
DONE_BOXES = ("x", "X")


@dataclass(eq=False)
class TaskEntry:
    """A heading, an item or a row that is a task, with the lines below its title."""

    title: Title
    line: int
    below: int
    end: int
    done: bool = False
    level: int = 0  # of a heading; 0 is an item or a row
    parent: TaskEntry | None = None
    groups: tuple[SectionHeading, ...] = ()  # the headings around it that are not tasks, the outermost first
    cells: dict[str, str] = field(default_factory=dict)  # of a row, by the name of a field
    children: list[TaskEntry] = field(default_factory=list)
    criteria: list[OutlineItem] = field(default_factory=list)

    def body(self, outline: PrdOutline) -> Iterator[tuple[str, bool]]:
        """Its lines, and whether each is code: without its children, its criteria and comments."""
        line = self.below
        parts: list[TaskEntry | OutlineItem] = [*self.children, *self.criteria]
        spans = sorted((part.line, part.end) for part in parts)
        for first, last in [*spans, (self.end + 1, self.end)]:
            for number in range(line, first):
                if number not in outline.comment_lines:
                    text = outline.lines[number - 1].rstrip()
                    if not (self.criteria and CRITERIA.fullmatch(text)):
                        yield text, number in outline.code_lines
            line = max(line, last + 1)


@dataclass
class TaskEntries:
    entries: list[TaskEntry] = field(default_factory=list)
    sections: list[OutlineHeading] = field(default_factory=list)  # where tasks were looked for
    unreadable: list[OutlineItem] = field(default_factory=list)  # their box or title cannot be read
    plain_items: list[OutlineItem] = field(default_factory=list)  # of a section, without a box
    passed_over: list[tuple[int, str]] = field(default_factory=list)  # lines that may be meant as tasks; why not
    ambiguous: bool = False  # its headings may be tasks, or its boxes
    form: str = ""  # what the tasks are, in words


def find_entries(outline: PrdOutline) -> TaskEntries:
    """The tasks of a PRD in the form that it has: sections, stories, checklists, tables, plain lists."""
    selections = []
    for tier in range(1, len(SECTIONS) + 1):
        search = _EntrySearch(outline, classify(outline, tier))
        selections.append(search.run())
        if selections[-1].entries or selections[-1].unreadable:
            selections[-1].ambiguous = is_ambiguous(list(search.headings.values()))
            return selections[-1]
    for find in (find_boxes, find_rows, find_plain_items):
        selection = find(outline)
        if selection.entries or selection.unreadable:
            selection.sections = selection.sections or selections[-1].sections
            return selection
    return selections[-1]


def find_boxes(outline: PrdOutline) -> TaskEntries:
    """Every box of a checklist is a task, and no heading is."""
    return _EntrySearch(outline, classify(outline, 0), everywhere=True).run()


class _EntrySearch:
    def __init__(
        self, outline: PrdOutline, headings: dict[int, SectionHeading], *, everywhere: bool = False
    ) -> None:
        self.outline = outline
        self.headings = headings
        self.everywhere = everywhere
        self.result = TaskEntries(form="checklists" if everywhere else "headings and checklists")
        self.current: SectionHeading | None = None
        self.label_active = False  # the next list has acceptance criteria
        self.tasks: dict[SectionHeading, TaskEntry] = {}
        self.items: dict[OutlineItem, TaskEntry] = {}
        self.criteria: set[OutlineItem] = set()
        self.last_section: OutlineHeading | None = None

    def run(self) -> TaskEntries:
        for node in self.outline.nodes:
            match node:
                case OutlineHeading(parent=None):
                    self.heading(self.headings[node.line])
                case OutlineItem():
                    self.item(node)
                case OutlineBlock(kind="paragraph" | "indented code" | "html"):
                    self.text(node)
        return self.result

    def heading(self, entry: SectionHeading) -> None:
        heading = entry.heading
        self.current = entry
        self.label_active = bool(CRITERIA.fullmatch(heading.text))
        section = self.last_section
        if section and heading.level <= section.level:
            if heading.underlined and not section.underlined and entry.kind != "section":
                self.result.passed_over.append((heading.line, _DIVIDER))
            self.last_section = None
        if entry.kind == "section" and not (entry.above and entry.above.in_section):
            self.last_section = heading
            self.result.sections.append(heading)
        elif entry.kind == "task":
            parent = self.tasks[entry.task_above] if entry.task_above else None
            lines = heading.line, heading.below, heading.end
            done, groups = entry.box in DONE_BOXES, _groups(entry.above)
            self.tasks[entry] = self._add(TaskEntry(entry.words, *lines, done, heading.level, parent, groups))
        elif not self.everywhere and not entry.task_above and STORY.match(heading.text) and entry.words.id:
            self.result.passed_over.append((heading.line, _OUTSIDE))

    def item(self, item: OutlineItem) -> None:
        around = self._task_heading
        if item.box is None:
            if item.parent is None:
                if around and self.label_active:
                    self._criterion(self.tasks[around], item)
                elif self.current and self.current.in_section and not around:
                    self.result.plain_items.append(item)
            return
        words = title(item.text)
        if not self._searching:
            if words.id:
                self.result.passed_over.append((item.line, _OUTSIDE))
            return
        if item.parent in self.criteria:
            self.criteria.add(item)  # a part of a criterion
            return
        parent = self._entry_around(item)
        if parent and parent.level and not words.id and item.text:
            self._criterion(parent, item)
        elif item.box not in _READABLE_BOXES or not words.text:
            self.result.unreadable.append(item)
        else:
            done = item.box in DONE_BOXES
            entry = TaskEntry(words, item.line, item.line + 1, item.end, done, 0, parent, _groups(self.current))
            self.items[item] = self._add(entry)

    def text(self, block: OutlineBlock) -> None:
        """Remember what a person may have meant as an item, and Markdown takes for something else."""
        if block.parent is None:
            self.label_active = bool(CRITERIA.fullmatch(self.outline.lines[block.end - 1]))
        if not self._searching:
            return
        around = self._entry_around(block)
        for number in range(block.line, block.end + 1):
            line = self.outline.lines[number - 1]
            if block.kind == "paragraph" and _WITHOUT_SPACE.match(line):
                self.result.passed_over.append((number, _UNSPACED))
            match = _LOOKS_LIKE_ITEM.match(line)
            if not match or (block.kind == "paragraph" and number == block.line):
                continue
            if title(split_box(line[match.end() :])[1]).id or not (around and around.level):
                self.result.passed_over.append((number, _LOOKALIKES[block.kind]))

    @property
    def _searching(self) -> bool:
        in_section = self.current is not None and (self.current.in_section or self._task_heading is not None)
        return self.everywhere or in_section

    @property
    def _task_heading(self) -> SectionHeading | None:
        if self.current is None or self.current.kind == "task":
            return self.current
        return self.current.task_above

    def _entry_around(self, node: OutlineItem | OutlineBlock) -> TaskEntry | None:
        item = node.parent
        while item:
            if item in self.items:
                return self.items[item]
            item = item.parent
        heading = self._task_heading
        return self.tasks[heading] if heading else None

    def _criterion(self, entry: TaskEntry, item: OutlineItem) -> None:
        self.criteria.add(item)
        if item.parent is None:
            entry.criteria.append(item)

    def _add(self, entry: TaskEntry) -> TaskEntry:
        self.result.entries.append(entry)
        if entry.parent:
            entry.parent.children.append(entry)
        return entry


def find_plain_items(outline: PrdOutline) -> TaskEntries:
    """The items of lists without boxes: in sections and phases, or in a file that is nothing but a list."""
    result = TaskEntries(form="plain lists")
    has_headings = any(isinstance(node, OutlineHeading) and node.parent is None for node in outline.nodes)
    for node, above in _below_headings(outline):
        if not isinstance(node, OutlineItem) or node.parent or node.box is not None or not node.text:
            continue
        if not has_headings or node.number or (above and _holds_tasks(above)):
            words = title(node.text)
            words = words._replace(id=words.id or node.number)
            entry = TaskEntry(words, node.line, node.line + 1, node.end, groups=_groups(above))
            result.entries.append(entry)
    if any(entry.groups and _holds_tasks(entry.groups[-1]) for entry in result.entries):
        result.entries = [entry for entry in result.entries if entry.groups and _holds_tasks(entry.groups[-1])]
    _clear_repeated_numbers(result.entries)
    return result


def _below_headings(outline: PrdOutline) -> Iterator[tuple[OutlineNode, SectionHeading | None]]:
    """What is no heading itself, each node with the heading that it stands below."""
    headings = classify(outline, len(SECTIONS))
    above: SectionHeading | None = None
    for node in outline.nodes:
        if isinstance(node, OutlineHeading) and node.parent is None:
            above = headings[node.line]
        else:
            yield node, above


def _holds_tasks(entry: SectionHeading) -> bool:
    return entry.in_section or bool(GROUP.match(entry.heading.text))


def _clear_repeated_numbers(entries: Iterable[TaskEntry]) -> None:
    """Each list begins with 1 again: then the numbers are no ids."""
    ids = [entry.title.id for entry in entries if entry.title.id]
    if len(set(ids)) < len(ids):
        for entry in entries:
            if entry.title.id.isdecimal():
                entry.title = entry.title._replace(id="")


_COLUMNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("id", r"(?:task |story |issue )?(?:id|key|no\.?|nr\.?|number)|#"),
        ("title", r"title|task|name|summary|story|user story|feature|requirement|item|issue|what"),
        ("description", r"description|details?|notes?"),
        ("priority", r"prio(?:rity)?"),
        ("status", r"status|state|done"),
        ("depends_on", r"depends(?: on)?|dependenc(?:y|ies)|blocked by|after|requires"),
        ("complexity", r"complexity|size|effort"),
        ("acceptance", r"acceptance criteri(?:a|on)|criteria"),
    )
)
_DONE_CELL = re.compile(r"\W*(?:done|completed?|x|yes|✅|✓|☑)\W*", re.IGNORECASE)


def row_columns(header: Iterable[str]) -> dict[str, int]:
    """Which column holds what, by the words of a table's header; {} if it has no id or no title."""
    columns: dict[str, int] = {}
    for index, cell in enumerate(header):
        words = cell.strip(" *`")
        for name, pattern in _COLUMNS:
            if name not in columns and pattern.fullmatch(words):
                columns[name] = index
                break
    if "title" not in columns and "description" in columns:
        columns["title"] = columns.pop("description")
    return columns if {"id", "title"} <= columns.keys() else {}


def find_rows(outline: PrdOutline) -> TaskEntries:
    """The rows of tables that have a column for an id and one for a title."""
    result = TaskEntries(form="a table")
    for node, above in _below_headings(outline):
        if isinstance(node, OutlineTable) and (columns := row_columns(node.rows[0].cells)):
            for row in node.rows[1:]:
                cells = {name: row.cells[index] for name, index in columns.items() if index < len(row.cells)}
                if not cells.get("title"):
                    if cells.get("id"):
                        result.passed_over.append((row.line, f"has no title, {_NO_TASK}"))
                    continue
                words = title(cells["title"])
                words = words._replace(id=cells.get("id", "").strip("`*# ") or words.id)
                done = bool(_DONE_CELL.fullmatch(cells.get("status", "")))
                lines = row.line, row.line + 1, row.line
                result.entries.append(TaskEntry(words, *lines, done, groups=_groups(above), cells=cells))
    return result


def _groups(entry: SectionHeading | None) -> tuple[SectionHeading, ...]:
    groups: list[SectionHeading] = []
    while entry:
        if entry.kind != "task":
            groups.append(entry)
        entry = entry.above
    return tuple(reversed(groups))


EntryFinder = Callable[[PrdOutline], TaskEntries]
