"""Markdown as people write it: stories, headings, checklists, lists and tables, with prose around them."""

from __future__ import annotations

from pathlib import Path
from typing import TypeGuard

from samuel.base.errors import UsageError
from samuel.tasks.entries import EntryFinder, TaskEntries, find_boxes, find_entries
from samuel.tasks.formats.base import POSSIBLE, ImportedTasks, Mark, Recognition
from samuel.tasks.formats.markdown_tasks import counted, counts_of, mark_box, mark_row, prose, quoted, tasks_of
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.outline import PrdOutline

ACCEPTED = """\
tasks are the items of a list that is all the file has, or that stands below a heading with Tasks in it:

    1. Write the parser
    2. Write its tests

or headings below a heading with Tasks, Stories, Requirements, Steps or the like in it:

    ## Tasks
    ### 1.1 Write the parser
    What is to be done, in as many lines as it takes.
    Depends on: 1.0
    Priority: high
    Files: src/parser.py, tests/test_parser.py (new)
    - [ ] a checklist below it has its acceptance criteria

or items of a checklist, where an item waits for those below it and `[x]` is done already:

    - [x] 1.0 Set up the project
      - [ ] 1.1 Write the parser [~3,000 tokens - Medium]
    - [ ] T002: Use it
    - [ ] Numbers are given to those that have none

or tables with an id and a title in such a section,
or any of these in a file `tasks-NAME.md` beside the PRD `NAME.md`"""

COMPANION = "tasks-"
"""`tasks-NAME.md` has the tasks of `NAME.md`."""


def is_companion(path: Path | None) -> TypeGuard[Path]:
    return path is not None and path.name.startswith(COMPANION)


class Markdown:
    name = "markdown"
    summary = "a PRD: stories, headings, checklists, lists and tables"
    example = ACCEPTED
    marks = "the box of the task, or the status cell of its row"
    stable_ids = False

    def recognise(self, source: TaskSource) -> Recognition | None:
        if source.looks_like_json:
            return None
        selection = find_entries(source.outline)
        if not selection.entries and not selection.unreadable:
            return None
        return Recognition(POSSIBLE, f"it is Markdown with {selection.form}")

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        imported = _read(source, find_entries)
        prd = source.beside(source.path.name.removeprefix(COMPANION)) if is_companion(source.path) else None
        if prd is None:
            return imported
        return imported._replace(prose=prose(TaskSource.of_file(prd).outline, ()))

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        return mark_box(source, imported, index) or mark_row(source, imported, index)


class Checklist:
    name = "checklist"
    summary = "Markdown in which every box is a task, and headings are names of groups"
    example = "    ## Backend\n    - [ ] Store prices\n    - [x] Read prices"
    marks = "the box of the task"
    stable_ids = False

    def recognise(self, source: TaskSource) -> Recognition | None:
        if source.looks_like_json:
            return None
        selection = find_entries(source.outline)
        return Recognition(POSSIBLE, "its boxes may be the tasks") if selection.ambiguous else None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        return _read(source, find_boxes)

    mark_done = staticmethod(mark_box)


def _read(source: TaskSource, find: EntryFinder) -> ImportedTasks:
    outline = source.outline
    selection = find(outline)
    if not selection.entries and not selection.unreadable:
        raise UsageError(no_task_message(selection, outline, source.name), ACCEPTED)
    return tasks_of(source, outline, selection)


def no_task_message_of(source: TaskSource) -> str:
    """Why nothing fits a source, with what it has."""
    if not source.data.strip():
        return f"`{source.name}` is empty"
    if source.looks_like_json:
        return f"`{source.name}` is JSON in no format that Samuel knows"
    outline = source.outline
    return no_task_message(find_entries(outline), outline, source.name)


def no_task_message(selection: TaskEntries, outline: PrdOutline, name: str) -> str:
    counts = ", ".join(counted(what, count) for what, count in counts_of(outline).items())
    headings = ", ".join(
        f"`{quoted(outline, heading.line)}` in line {heading.line}" for heading in selection.sections
    )
    though = f", though it has {headings}" if headings else ""
    return f"`{name}` has no task{though}" + (f" ({counts})" if counts else "")
