"""A PRD in Markdown -> tasks. `ACCEPTED` shows what it looks for."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from samuel.errors import ConfigError, Problem, UsageError
from samuel.tasks import graph
from samuel.tasks.annotations import body
from samuel.tasks.outline import Entry, Outline, outline
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


class Converted(NamedTuple):
    tasks: tuple[Task, ...]
    file: Path  # where they stand: the PRD, or the file with its tasks beside it
    notes: tuple[str, ...] = ()  # what was passed over, and may have been meant


def read(path: Path) -> Converted:
    """The tasks of a PRD, or of the `tasks-<prd>.md` beside it."""
    companion = path.with_name(f"tasks-{path.name}")
    file = companion if companion.is_file() else path
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read `{file}`: {error.strerror}", "name a PRD in Markdown") from None
    except UnicodeDecodeError:
        raise UsageError(f"`{file}` is not text in UTF-8", "name a PRD in Markdown") from None
    tasks, notes = parse(text, str(file))
    return Converted(tasks, file, notes)


def parse(text: str, file: str) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    """The tasks in this text, and notes about what was passed over."""
    found = outline(text)
    if not found.entries and not found.strange:
        sections = found.sections
        found = outline(text, everywhere=True)
        found.sections = sections
    problems = [
        Problem(
            "this item cannot be read", file, line.number, "write `- [ ] Title`, or `- [x] Title` if it is done"
        )
        for line in found.strange
    ]
    if not found.entries and not problems:
        raise UsageError(_nothing(found, file), ACCEPTED)
    ids = _ids(found.entries)
    tasks = []
    for entry in found.entries:
        try:
            tasks.append(_task(entry, ids))
        except ValueError as error:
            hint = f"one of {', '.join(PRIORITIES)}, or P0 to P3"
            problems.append(Problem(str(error), file, entry.line, hint))
    if not problems:
        problems = graph.problems(tasks, file, [entry.line for entry in found.entries])
    if problems:
        raise ConfigError(problems)
    return tuple(tasks), tuple(f"{file}:{note}" for note in _notes(found))


def _notes(found: Outline) -> Iterator[str]:
    """What a person may have meant as a task."""
    levels = {"#" * entry.level for entry in found.entries if entry.level}
    for line in found.unnumbered:
        if line.text.split()[0] in levels:
            yield f"{line.number}: `{line.text}` has no number, so it is no task"
    for line in found.outside:
        yield f"{line.number}: `{line.text.strip()}` is in no section for tasks"


def _nothing(found: Outline, file: str) -> str:
    headings = ", ".join(f"`{line.text.strip()}` in line {line.number}" for line in found.sections)
    return f"`{file}` has no task, though it has {headings}" if headings else f"`{file}` has no task"


def _ids(entries: Sequence[Entry]) -> dict[int, str]:
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


def _task(entry: Entry, ids: dict[int, str]) -> Task:
    text, named = body((line.text, line.code) for line in entry.body)
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
        description=textwrap.dedent("\n".join(text)).strip(),
        status="completed" if entry.done else "pending",
        parent_id=parent,
        **fields,
    )
