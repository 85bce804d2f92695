"""A PRD in Markdown -> tasks. `ACCEPTED` shows what it looks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from samuel.errors import ConfigError, Problem, UsageError
from samuel.tasks import graph
from samuel.tasks.annotations import body
from samuel.tasks.commonmark import OutlineLimit
from samuel.tasks.entries import TaskEntries, TaskEntry, find_entries
from samuel.tasks.outline import PrdOutline, read_outline
from samuel.tasks.prose import prose
from samuel.tasks.task import PRIORITIES, Task

ACCEPTED = """\
tasks are headings below a heading with Tasks, Implementation, Steps or Work Items in it:

    ## Tasks
    ### 1.1 Write the parser
    What is to be done, in as many lines as it takes.
    Depends on: 1.0
    Priority: high
    Files: src/parser.py, tests/test_parser.py (new)

or items of a checklist, where those below an item wait for it and `[x]` is done already:

    - [x] 1.0 Set up the project
      - [ ] 1.1 Write the parser [~3,000 tokens - Medium]
    - [ ] T002: Use it
    - [ ] Numbers are given to those that have none

or both of these in a file `tasks-NAME.md` beside the PRD `NAME.md`"""

LONGEST_QUOTE = 100  # characters of a line in a message
_LOOKALIKES = {
    "paragraph": ("the paragraph above", "indent it like the items around it, or put an empty line above it"),
    "indented code": ("indented code", "indent it less"),
    "html": ("a block of HTML", "put an empty line above it"),
}


class Converted(NamedTuple):
    tasks: tuple[Task, ...]
    file: Path  # where they stand: the PRD, or the file with its tasks beside it
    notes: tuple[str, ...] = ()  # what was passed over, and may have been meant
    prose: str = ""  # what the PRD says besides its tasks


class _ParsedPrd(NamedTuple):
    tasks: tuple[Task, ...]
    notes: tuple[str, ...]
    prose: str


def read(path: Path) -> Converted:
    """The tasks of a PRD, or of the `tasks-<prd>.md` beside it."""
    companion = path.with_name(f"tasks-{path.name}")
    file = companion if companion.is_file() else path
    prd = _parse(_text(file), str(file))
    if file is companion and path.is_file():
        prd = prd._replace(prose=prose(_outline(_text(path), str(path)), ()))
    return Converted(prd.tasks, file, prd.notes, prd.prose)


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read `{file}`: {error.strerror}", "name a PRD in Markdown") from None
    except UnicodeDecodeError:
        raise UsageError(f"`{file}` is not text in UTF-8", "name a PRD in Markdown") from None


def _outline(text: str, file: str) -> PrdOutline:
    try:
        return read_outline(text)
    except OutlineLimit as limit:
        raise ConfigError([Problem(limit.what, file, limit.line, "write it flatter, or split it")]) from None


def parse(text: str, file: str) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    """The tasks in this text, and notes about what was passed over."""
    prd = _parse(text, file)
    return prd.tasks, prd.notes


def _parse(text: str, file: str) -> _ParsedPrd:
    outline = _outline(text, file)
    selection = find_entries(outline)
    if not selection.entries and not selection.unreadable:
        sections = selection.sections
        selection = find_entries(outline, everywhere=True)
        selection.sections = sections
    problems = [
        Problem("this item cannot be read", file, item.line, "write `- [ ] Title`, or `- [x] Title` if it is done")
        for item in selection.unreadable
    ]
    if not selection.entries and not problems:
        raise UsageError(_no_task_message(selection, outline, file), ACCEPTED)
    ids = _ids(selection.entries)
    tasks = []
    for entry in selection.entries:
        try:
            tasks.append(_task(entry, outline, ids))
        except ValueError as error:
            hint = f"one of {', '.join(PRIORITIES)}, or P0 to P3"
            problems.append(Problem(str(error), file, entry.line, hint))
    if not problems:
        problems = graph.problems(tasks, file, [entry.line for entry in selection.entries])
    if problems:
        raise ConfigError(problems)
    notes = tuple(f"{file}:{line}: {note}" for line, note in sorted(_notes(selection, outline)))
    return _ParsedPrd(tuple(tasks), notes, prose(outline, selection.entries))


def _notes(selection: TaskEntries, outline: PrdOutline) -> Iterator[tuple[int, str]]:
    """What a person may have meant as a task, with its line."""
    levels = {entry.level for entry in selection.entries}
    for heading in selection.unnumbered:
        if heading.level in levels:
            yield heading.line, f"`{_line(outline, heading.line)}` has no number, so it is not read as a task"
    for item in selection.outside:
        yield item.line, f"`{_line(outline, item.line)}` is in no section for tasks"
    for line, kind in selection.lookalikes:
        block, hint = _LOOKALIKES[kind]
        yield line, f"`{_line(outline, line)}` is part of {block} in Markdown, so it is not read as a task: {hint}"
    for heading in selection.dividers:
        problem = (
            f"`{_line(outline, heading.line)}` is a heading by the line below it, and ends the section for tasks"
        )
        yield heading.line, f"{problem}: put an empty line between the two"


def _no_task_message(selection: TaskEntries, outline: PrdOutline, file: str) -> str:
    headings = ", ".join(
        f"`{_line(outline, heading.line)}` in line {heading.line}" for heading in selection.sections
    )
    return f"`{file}` has no task, though it has {headings}" if headings else f"`{file}` has no task"


def _line(outline: PrdOutline, number: int) -> str:
    line = outline.lines[number - 1].strip()
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}..."


def _ids(entries: Sequence[TaskEntry]) -> dict[int, str]:
    """The id of each entry, by its line: its own, or the next free number at its place."""
    taken = {entry.title.id for entry in entries}
    ids: dict[int, str] = {}
    count: Counter[str] = Counter()
    for entry in entries:
        id = entry.title.id
        prefix = f"{ids[entry.parent.line]}." if entry.parent else ""
        while not id:
            count[prefix] += 1
            candidate = f"{prefix}{count[prefix]}"
            id = "" if candidate in taken else candidate
        ids[entry.line] = id
        taken.add(id)
    return ids


def _task(entry: TaskEntry, outline: PrdOutline, ids: dict[int, str]) -> Task:
    text, named = body(entry.body(outline))
    fields: dict[str, Any] = {**entry.title.fields, **named}
    parent = ids[entry.parent.line] if entry.parent else ""
    needed = [
        *([parent] if parent else []),
        *entry.title.fields.get("depends_on", ()),
        *named.get("depends_on", ()),
    ]
    fields["depends_on"] = tuple(dict.fromkeys(needed))
    return Task(
        id=ids[entry.line],
        title=entry.title.text,
        description=_dedented(text),
        status="completed" if entry.done else "pending",
        parent_id=parent,
        **fields,
    )


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
