"""What a format of tasks is: how it is recognised and read, and how one of its tasks is marked as done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from samuel.base.errors import ConfigError, Problem
from samuel.tasks import graph
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.task import Task, natural

BY_NAME, BY_GRAMMAR, POSSIBLE = 3, 2, 1
"""How well a format fits: by the name of the file, by words that only it uses, or for want of a better one."""


class Recognition(NamedTuple):
    fit: int
    why: str  # completes "read as NAME: "


class LeftOutItem(NamedTuple):
    """Something in the source that did not become a task, and may have been meant as one."""

    line: int  # 0 where a line says nothing
    what: str


class SourceDocument(NamedTuple):
    """A file beside the tasks that says more about them."""

    name: str  # as the prompt calls it
    path: Path


class ImportedTasks(NamedTuple):
    """What a format read: the tasks, and what a person needs in order to see a wrong guess."""

    tasks: tuple[Task, ...]
    lines: tuple[int, ...]  # of each task
    counts: Mapping[str, int] = {}  # what the source has: headings, boxes, ...
    left_out: tuple[LeftOutItem, ...] = ()
    notes: tuple[str, ...] = ()
    prose: str = ""  # what the source says besides its tasks
    documents: tuple[SourceDocument, ...] = ()
    checks: tuple[str, ...] = ()  # commands that the source names for all tasks
    tag: str = ""  # the list of tasks that was read, where a file has several


class Mark(NamedTuple):
    """The edit that marks one task as done: `text[start:end]` becomes `new`. Equal ones change nothing."""

    path: Path
    start: int
    end: int
    new: str


class TaskFormat(Protocol):
    """One format. The next format is one module with such a class, and a line in `table.py`."""

    name: str
    """What `--format` calls it."""
    summary: str
    """What it is, for a list of all formats."""
    example: str
    """A short piece of it, shown where nothing fits."""
    marks: str
    """What is written into the source when a task is completed; "" if it has no place for that."""
    stable_ids: bool
    """Whether an id means the same task for ever. Numbers in Markdown do not: people renumber."""

    def recognise(self, source: TaskSource) -> Recognition | None:
        """Whether the source is of this format. It reads little, and raises ConfigError only if it is not."""

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        """The tasks of the source. Raises ConfigError with every problem and its place."""

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        """How to mark the task at `index` as done; None if the source has no place for it."""


def valid_tasks(
    source: TaskSource, tasks: Sequence[Task], lines: Sequence[int], problems: Sequence[Problem] = ()
) -> ImportedTasks:
    """These tasks, to be completed by what else was read. ConfigError with the problems, or with their graph's."""
    if refused := problems or graph.problems(tasks, source.name, lines):
        raise ConfigError(refused)
    return ImportedTasks(tuple(tasks), tuple(lines))


def in_order(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks, with a rank for each where their ids and priorities do not give the order of the source."""
    by_priority: dict[str, list[str]] = {}
    for task in tasks:
        by_priority.setdefault(task.priority, []).append(task.id)
    if all(ids == sorted(ids, key=natural) for ids in by_priority.values()):
        return tuple(tasks)
    return tuple(replace(task, rank=rank) for rank, task in enumerate(tasks, start=1))


def documents_beside(source: TaskSource, names: Sequence[str]) -> tuple[SourceDocument, ...]:
    """Those of the files that exist in the directory of the source."""
    paths = ((name, source.beside(name)) for name in names)
    return tuple(SourceDocument(name, path) for name, path in paths if path is not None)


def line_numbers(lines: Sequence[int], most: int = 5) -> str:
    """`line 3`, `lines 3, 5`, `lines 3, 5, 8, 9, 12, ...`."""
    named = ", ".join(map(str, lines[:most])) + (", ..." if len(lines) > most else "")
    return f"line{'' if len(lines) == 1 else 's'} {named}"
