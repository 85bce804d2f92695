"""context.snapshot: the picture of a project that an agent gets before it looks for itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.clock import Clock, SystemClock
from samuel.git.git import Git
from samuel.prompts.file_facts import FactsReader
from samuel.prompts.file_list import look
from samuel.prompts.file_table import FileTable
from samuel.prompts.snapshot_cache import Cache, Loose
from samuel.prompts.toon_tables import TableSection, compact, one_line

CLOCK = SystemClock()

MOST_FILES = 200
MOST_LARGEST = 15
MOST_TODOS = 30
MOST_GAPS = 30
MOST_COMMITS = 10
BUDGET = 2600
"""Bytes of TOON. With the progress and the task an iteration's context stays below 5 KB."""


class Language(NamedTuple):
    name: str
    files: int
    lines: int


class Large(NamedTuple):
    path: str
    size: int
    lines: int | None


class Todos(NamedTuple):
    """How many lines of a file have each word."""

    path: str
    todo: int
    fixme: int
    hack: int


class SnapshotCommit(NamedTuple):
    id: str
    date: str
    subject: str


@dataclass(frozen=True)
class Snapshot:
    """Paths are relative to the root, as `os.fsdecode` has them."""

    files: int
    """Regular files that git tracks or does not ignore, as they are on disk."""
    lines: int
    changed: int
    """How many of them differ from git's index, or are not tracked."""
    head: str
    """The commit; "" where there is none."""
    branch: str
    cut: bool
    """Without git: there are more files than were looked at."""
    languages: tuple[Language, ...]
    """All of them, most lines first."""
    largest: tuple[Large, ...]
    """Text files only: an image's size tells an agent nothing."""
    gaps: tuple[str, ...]
    """Sources that no test is named after, most lines first."""
    gap_count: int
    todos: tuple[Todos, ...]
    """Most lines first."""
    todo_count: int
    """How many files have any."""
    listed: tuple[str, ...]
    """What is being worked on, then what the last commits touched, then from the top of the tree down."""
    commits: tuple[SnapshotCommit, ...]


def take(root: Path, git: Git, cache: Path, clock: Clock = CLOCK) -> Snapshot:
    """Look at the project. `cache` is a directory outside of it: what was read last time is not read again."""
    snapshot_cache = Cache(cache, root)
    files = look(root, git, snapshot_cache.last)
    with FactsReader(root) as reader:
        table, loose = snapshot_cache.refresh(files, reader, clock)
    commits = _commits(snapshot_cache.loose, git, files.head)
    snapshot_cache.save()
    languages = tuple(Language(*row) for row in table.by_language())
    gaps, gap_count = table.gaps(MOST_GAPS)
    marked = table.marked()
    return Snapshot(
        files=sum(language.files for language in languages),
        lines=sum(language.lines for language in languages),
        changed=len(loose),
        head=files.head,
        branch=files.branch,
        cut=files.cut,
        languages=languages,
        largest=tuple(Large(os.fsdecode(path), size, lines) for path, size, lines in table.largest(MOST_LARGEST)),
        gaps=tuple(os.fsdecode(path) for path in gaps),
        gap_count=gap_count,
        todos=tuple(Todos(os.fsdecode(path), *counts) for path, *counts in marked[:MOST_TODOS]),
        todo_count=len(marked),
        listed=_listed(table, loose + snapshot_cache.loose.touched),
        commits=commits,
    )


def to_toon(snapshot: Snapshot, budget: int = BUDGET) -> str:
    """The snapshot in at most `budget` bytes. Rows that do not fit are left out, and counted."""
    about: dict[str, Any] = {"files": snapshot.files, "lines": snapshot.lines}
    if snapshot.cut:
        about["more_files"] = True
    if snapshot.head:
        about |= {"branch": one_line(snapshot.branch) or "(detached)", "changed_files": snapshot.changed}
    languages = [language._asdict() for language in snapshot.languages]
    largest = [{**large._asdict(), "path": one_line(large.path)} for large in snapshot.largest]
    todos = [{**todo._asdict(), "path": one_line(todo.path)} for todo in snapshot.todos]
    commits = [{**commit._asdict(), "subject": one_line(commit.subject, 72)} for commit in snapshot.commits]
    return compact(
        {"project": about},
        [
            TableSection("languages", languages, len(languages), 0.12),
            TableSection("commits", commits, len(commits), 0.22),
            TableSection("largest", largest, len(largest), 0.18),
            TableSection("test_gaps", [one_line(path) for path in snapshot.gaps], snapshot.gap_count, 0.18),
            TableSection("todos", todos, snapshot.todo_count, 0.15),
            TableSection("files_by_directory", [one_line(path) for path in snapshot.listed], snapshot.files, 0.15),
        ],
        budget,
    )


def _listed(table: FileTable, first: list[bytes]) -> tuple[str, ...]:
    there = frozenset(table.paths) if first else frozenset()
    chosen = [path for path in dict.fromkeys(first) if path in there][:MOST_FILES]
    if len(chosen) < MOST_FILES:
        chosen = list(dict.fromkeys((*chosen, *table.shallowest(MOST_FILES))))[:MOST_FILES]
    return tuple(os.fsdecode(path) for path in chosen)


def _commits(loose: Loose, git: Git, head: str) -> tuple[SnapshotCommit, ...]:
    """The last commits, and (in `loose`) what they touched: asked again only when there is a new one."""
    if loose.head != head:
        log = git.log(MOST_COMMITS) if head else []
        loose.head = head
        loose.commits = [commit[:3] for commit in log]
        touched = (os.fsencode(path) for commit in log for path in commit.paths)
        loose.touched = list(dict.fromkeys(touched))[:MOST_FILES]
    return tuple(SnapshotCommit(*commit) for commit in loose.commits)
