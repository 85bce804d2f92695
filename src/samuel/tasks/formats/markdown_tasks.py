"""The tasks of a Markdown outline: ids, fields, parents and children, and what was passed over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from samuel.base.errors import ConfigError, Problem
from samuel.tasks import graph
from samuel.tasks.annotations import body, heading_priority, ids_in, priority_fields
from samuel.tasks.entries import TaskEntries, TaskEntry, row_columns
from samuel.tasks.formats.base import ImportedTasks, LeftOutItem, Mark, line_numbers, valid_tasks
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.outline import OutlineHeading, OutlineItem, OutlineTable, PrdOutline, metadata_length
from samuel.tasks.task import PRIORITIES, Task, TaskStatus

LONGEST_QUOTE = 100  # characters of a line in a message
_EMPTY_LINES = re.compile(r"\n{3,}")
_BOX = re.compile(r"[ \t]*(?:(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+|#{1,6}[ \t]+)?\[([ xX]?)\](?=\s|$)")

Describe = Callable[[TaskEntry, dict[str, Any]], None]
"""Changes the fields of a task by what is around it."""


def counts_of(outline: PrdOutline) -> dict[str, int]:
    """What there is that could have been a task."""
    counts = Counter[str]()
    for node in outline.nodes:
        match node:
            case OutlineHeading(parent=None):
                counts["headings"] += 1
            case OutlineItem(box=None, parent=None):
                counts["other items"] += 1
            case OutlineItem(box=str()):
                counts["boxes"] += 1
            case OutlineTable():
                counts["table rows"] += len(node.rows) - 1
    return {name: counts[name] for name in ("headings", "boxes", "other items", "table rows") if counts[name]}


_SINGULAR = {"boxes": "box", "stories": "story"}


def counted(name: str, count: int) -> str:
    """`3 boxes`, `1 box`."""
    return f"{count} {_SINGULAR.get(name, name.removesuffix('s')) if count == 1 else name}"


def tasks_of(
    source: TaskSource,
    outline: PrdOutline,
    selection: TaskEntries,
    *,
    describe: Describe | None = None,
    repeated_ids: bool = False,
) -> ImportedTasks:
    """The tasks of these entries; ConfigError with everything that is wrong.

    With `repeated_ids` an id that is there twice is given a suffix instead of being refused.
    """
    hint = "write `- [ ] Title`, or `- [x] Title` if it is done"
    problems = [Problem("this item cannot be read", source.name, item.line, hint) for item in selection.unreadable]
    ids, renamed = _ids(selection.entries, repeated_ids)
    builder = _TaskBuilder(outline, selection.entries, ids, describe)
    for entry in selection.entries:
        try:
            builder.read(entry)
        except ValueError as error:
            hint = f"one of {', '.join(PRIORITIES)}, or P0 to P3"
            problems.append(Problem(str(error), source.name, entry.line, hint))
    if problems:
        raise ConfigError(problems)
    return valid_tasks(source, *builder.tasks())._replace(
        counts=counts_of(outline),
        left_out=tuple(sorted([*_passed_over(selection, outline), *renamed])),
        prose=prose(outline, selection.entries),
    )


def prose(outline: PrdOutline, entries: Sequence[TaskEntry]) -> str:
    """What a PRD says besides its tasks: why, goals, limits. It is the background of every task.

    It is the text outside of these tasks, without comments and without headings that have no text left below.
    """
    left_out = set(range(1, metadata_length(outline.lines) + 1)) | outline.comment_lines
    for entry in entries:
        left_out.update(range(entry.line, entry.end + 1))
    headings = {node.line: node for node in outline.nodes if isinstance(node, OutlineHeading) and not node.parent}
    left_out.update(line for node in headings.values() for line in range(node.line + 1, node.below))
    lines: list[str] = []  # the last one first
    has_text = [False] * 7  # by level: is there text between here and the next heading of that level?
    for number in range(len(outline.lines), 0, -1):
        if number in left_out:
            continue
        line = outline.lines[number - 1].rstrip()
        heading = headings.get(number)
        if heading is None:
            has_text = [True] * 7 if line else has_text
            lines.append(line)
            continue
        if has_text[heading.level]:
            lines.append(f"{'#' * heading.level} {heading.text}")
        has_text[heading.level :] = [False] * (7 - heading.level)
    return _EMPTY_LINES.sub("\n\n", "\n".join(reversed(lines))).strip("\n")


class _TaskBuilder:
    """Entries as tasks. A parent waits for its children, and one that is nothing but its children is no task.

    A child that is written to wait for its parent comes after it: the parent has something of its own to do first.
    """

    def __init__(
        self, outline: PrdOutline, entries: Sequence[TaskEntry], ids: Mapping[int, str], describe: Describe | None
    ) -> None:
        self._outline = outline
        self._entries = entries
        self._ids = ids
        self._describe = describe
        self._fields: dict[int, dict[str, Any]] = {}  # by line
        self._sections: set[int] = set()  # lines

    def read(self, entry: TaskEntry) -> None:
        """Read the fields of an entry; its parent was read before. Raises ValueError for a wrong priority."""
        text, named = body(entry.body(self._outline))
        cells = _cell_fields(entry.cells)
        fields: dict[str, Any] = {**_inherited(entry, self._fields), **entry.title.fields, **cells, **named}
        above = self._fields[entry.parent.line] if entry.parent else {}
        sources = (above, entry.title.fields, cells, named)
        needed = dict.fromkeys(id for source in sources for id in source.get("depends_on", ()))
        fields["depends_on"] = tuple(needed)
        criteria = (_criterion(item, self._outline) for item in entry.criteria)
        acceptance = (*cells.get("acceptance", ()), *named.get("acceptance", ()), *criteria)
        if acceptance:
            fields["acceptance"] = acceptance
        description = "\n\n".join(part for part in (cells.get("description", ""), _dedented(text)) if part)
        fields["description"] = description
        if self._describe:
            self._describe(entry, fields)
        self._fields[entry.line] = fields

    def tasks(self) -> tuple[list[Task], list[int]]:
        self._sections = {entry.line for entry in self._entries if self._is_section(entry)}
        entries = [entry for entry in self._entries if entry.line not in self._sections]
        named = self._named(entries)
        children_of = self._children(entries, named)
        tasks = []
        for entry in entries:
            fields, id = dict(self._fields[entry.line]), self._ids[entry.line]
            parent = next((above for above in _parents(entry) if above.line not in self._sections), None)
            fields["depends_on"] = tuple(dict.fromkeys([*named[id], *children_of[id]]))
            if children_of[id]:
                fields["no_change"] = True  # its children may have done all of it
            status: TaskStatus = "completed" if entry.done else "pending"
            parent_id = self._ids[parent.line] if parent else ""
            tasks.append(Task(id=id, title=entry.title.text, status=status, parent_id=parent_id, **fields))
        return tasks, [entry.line for entry in entries]

    def _is_section(self, entry: TaskEntry) -> bool:
        """A heading that is nothing but its children. An item with a box is always a task."""
        fields = self._fields[entry.line]
        return bool(entry.level and entry.children and not fields["description"] and not fields.get("acceptance"))

    def _leaves(self, entry: TaskEntry) -> list[str]:
        """The ids of the tasks that stand for an entry: its own, or those in a section."""
        if entry.line not in self._sections:
            return [self._ids[entry.line]]
        return [id for child in entry.children for id in self._leaves(child)]

    def _named(self, entries: Sequence[TaskEntry]) -> dict[str, list[str]]:
        """By the id of a task: the tasks that it is written to wait for.

        A section stands for the tasks in it, but not where one of them waits for it: that is what holds them all.
        """
        sections = [entry for entry in self._entries if entry.line in self._sections]
        members = {self._ids[section.line]: self._leaves(section) for section in sections}
        named = {}
        for entry in entries:
            id = self._ids[entry.line]
            around = {self._ids[above.line] for above in _parents(entry) if above.line in self._sections}
            waited = [name for name in self._fields[entry.line]["depends_on"] if name not in around]
            named[id] = [other for name in waited for other in members.get(name, (name,)) if other != id]
        return named

    def _children(self, entries: Sequence[TaskEntry], named: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """By the id of a task: the children that it waits for, without those that are written to wait for it.

        Of several parents around a task that waits for the outermost one, the inner ones still wait for it.
        """
        children = {
            self._ids[entry.line]: [id for child in entry.children for id in self._leaves(child)]
            for entry in entries
        }
        while any(named.values()):  # else nothing can wait for its parent
            group = graph.components({id: (*named[id], *children[id]) for id in children})
            waited_by_child = {
                id for id, below in children.items() if any(group.get(child) == group[id] for child in below)
            }
            if not waited_by_child:
                break
            for entry in entries:
                id = self._ids[entry.line]
                parent_ids = (self._ids[above.line] for above in _parents(entry))
                above = next((parent_id for parent_id in parent_ids if parent_id in waited_by_child), "")
                if id in waited_by_child and not (above and group[above] == group[id]):
                    children[id] = [child for child in children[id] if group.get(child) != group[id]]
        return children


def _parents(entry: TaskEntry) -> Iterator[TaskEntry]:
    """The entries around this one, the nearest first."""
    while entry.parent:
        entry = entry.parent
        yield entry


def _inherited(entry: TaskEntry, fields: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """The priority of the parent, or of the nearest heading around that gives one."""
    if entry.parent and (priority := fields[entry.parent.line].get("priority")):
        return {"priority": priority}
    priorities = (heading_priority(group.heading.text) for group in reversed(entry.groups))
    priority = next((priority for priority in priorities if priority), "")
    return {"priority": priority} if priority else {}


def _cell_fields(cells: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if cells.get("priority", "").strip(" -–"):
        fields |= priority_fields(cells["priority"])
    if ids := ids_in(cells.get("depends_on", "")):
        fields["depends_on"] = ids
    if complexity := cells.get("complexity", "").strip(" -–`*").lower():
        fields["complexity"] = complexity
    if acceptance := cells.get("acceptance", "").strip():
        fields["acceptance"] = (acceptance,)
    if description := cells.get("description", "").strip():
        fields["description"] = description
    return fields


def _criterion(item: OutlineItem, outline: PrdOutline) -> str:
    """The words of a criterion, with what is indented below it."""
    below = [outline.lines[number - 1].rstrip() for number in range(item.line + 1, item.end + 1)]
    return "\n".join([item.text, *([_dedented(below)] if below else [])]).strip()


def _ids(entries: Sequence[TaskEntry], repeated_ids: bool) -> tuple[dict[int, str], list[LeftOutItem]]:
    """The id of each entry by its line: its own, or the next free number; and notes about repeated ones."""
    taken = {entry.title.id for entry in entries}
    ids: dict[int, str] = {}
    renamed: list[LeftOutItem] = []
    counts: Counter[str] = Counter()
    first_lines: dict[str, int] = {}
    for entry in entries:
        id = entry.title.id
        if id and repeated_ids and first_lines.setdefault(id, entry.line) != entry.line:
            id = _next_free(f"{entry.title.id}-", counts, taken, first=2)
            what = f"the id `{entry.title.id}` is there twice; this task is `{id}`"
            renamed.append(LeftOutItem(entry.line, what))
        if not id:
            id = _next_free(_prefix(entry, ids), counts, taken)
        ids[entry.line] = id
        taken.add(id)
    return ids, renamed


def _prefix(entry: TaskEntry, ids: Mapping[int, str]) -> str:
    if entry.parent:
        return f"{ids[entry.parent.line]}."
    numbers = (group.words.id for group in reversed(entry.groups))
    number = next((number for number in numbers if number and not entry.level), "")
    return f"{number}." if number else ""


def _next_free(prefix: str, counts: Counter[str], taken: set[str], first: int = 1) -> str:
    counts[prefix] = max(counts[prefix], first - 1)
    while True:
        counts[prefix] += 1
        if (id := f"{prefix}{counts[prefix]}") not in taken:
            return id


def _passed_over(selection: TaskEntries, outline: PrdOutline) -> Iterator[LeftOutItem]:
    """What a person may have meant as a task, with its line."""
    for line, why in selection.passed_over:
        yield LeftOutItem(line, f"`{quoted(outline, line)}` {why}")
    if lines := [item.line for item in selection.plain_items]:
        items = "an item without a box is" if len(lines) == 1 else f"{len(lines)} items without a box are"
        yield LeftOutItem(lines[0], f"{items} not read as tasks ({line_numbers(lines)})")


def quoted(outline: PrdOutline, number: int) -> str:
    line = outline.lines[number - 1].strip()
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}..."


def mark_box(source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
    """The edit that ticks the box in the line of a task; None if it has none."""
    line = imported.lines[index]
    if source.path is None or line > len(source.line_starts):
        return None
    match = _BOX.match(source.exact_text, source.line_starts[line - 1])
    if not match:
        return None
    new = match[1] if match[1] in ("x", "X") else "x"
    return Mark(source.path, match.start(1), match.end(1), new)


def mark_row(source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
    """The edit that sets the status in a task's row of a table; None if the table has no column for it."""
    line = imported.lines[index]
    for node in source.outline.nodes:
        if isinstance(node, OutlineTable) and node.line < line <= node.end and source.path:
            column = row_columns(node.rows[0].cells).get("status")
            start = source.line_starts[line - 1]
            end = source.line_starts[line] if line < len(source.line_starts) else len(source.exact_text)
            row = source.exact_text[start:end]
            cells = list(re.finditer(r"(?:\\.|[^|\\\r\n])+", row))
            if column is None or not row.lstrip().startswith("|") or "||" in row:
                return None
            cells = [cell for cell in cells if cell.start() > row.index("|")]
            if column >= len(cells):
                return None
            words = cells[column][0].strip()
            left = start + cells[column].start() + cells[column][0].index(words) if words else -1
            return Mark(source.path, left, left + len(words), "done") if words else None
    return None


def _dedented(lines: Sequence[str]) -> str:
    """The lines without the indentation they share. It is counted in columns: a tab that is left stays one."""
    blanks = (line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line)
    shared = min((len(blank.expandtabs(4)) for blank in blanks), default=0)
    return "\n".join(_without_columns(line, shared) for line in lines).strip("\n")


def _without_columns(line: str, columns: int) -> str:
    width = 0
    for index, character in enumerate(line):
        if width >= columns:
            return " " * (width - columns) + line[index:]
        width += 4 - width % 4 if character == "\t" else 1
    return ""
