"""context.snapshot: the picture of a project that an agent gets before it looks for itself."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.clock import Clock, SystemClock
from samuel.git.git import Git
from samuel.prompts.file_facts import CachedFiles, ProjectFacts
from samuel.prompts.file_list import look
from samuel.prompts.languages import SOURCE, TEST
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
    files = look(root, git)
    rows, loose = ProjectFacts(cache, root, clock).read(files)
    languages = _languages(rows)
    largest = ((path, row.facts) for path, row in rows.items() if row.facts.text)
    gaps, marked = _gaps(rows), _marked(rows)
    log = git.log(MOST_COMMITS) if files.head else []
    touched = [os.fsencode(path) for commit in log for path in commit.paths]
    return Snapshot(
        files=len(rows),
        lines=sum(language.lines for language in languages),
        changed=len(loose),
        head=files.head,
        branch=files.branch,
        cut=files.cut,
        languages=languages,
        largest=tuple(
            Large(os.fsdecode(path), facts.size, facts.lines)
            for path, facts in heapq.nsmallest(MOST_LARGEST, largest, key=lambda file: (-file[1].size, file[0]))
        ),
        gaps=tuple(map(os.fsdecode, gaps[:MOST_GAPS])),
        gap_count=len(gaps),
        todos=tuple(marked[:MOST_TODOS]),
        todo_count=len(marked),
        listed=_listed(rows, loose + touched),
        commits=tuple(SnapshotCommit(*commit[:3]) for commit in log),
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


def _languages(rows: CachedFiles) -> tuple[Language, ...]:
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for row in rows.values():
        files[row.described.language] += 1
        lines[row.described.language] += row.facts.lines or 0
    languages = (Language(name, files[name], lines[name]) for name in files)
    return tuple(sorted(languages, key=lambda language: (-language.lines, language.name)))


def _gaps(rows: CachedFiles) -> list[bytes]:
    """Sources that no test is named after, most lines first. Empty files and those with tests inside need none."""
    judged = [(path, row.described, row.facts.lines) for path, row in rows.items() if not row.facts.tests_inside]
    tested = {described.subject for _, described, _ in judged if described.role == TEST}
    gaps = [
        (1 if lines is None else -lines, path)
        for path, described, lines in judged
        if described.role == SOURCE and lines != 0 and described.subject not in tested
    ]
    return [path for _, path in sorted(gaps)]


def _marked(rows: CachedFiles) -> list[Todos]:
    counts = ((path, row.facts[3:6]) for path, row in rows.items() if any(row.facts[3:6]))
    most_first = sorted(counts, key=lambda row: (-sum(row[1]), row[0]))
    return [Todos(os.fsdecode(path), *count) for path, count in most_first]


def _listed(rows: CachedFiles, first: list[bytes]) -> tuple[str, ...]:
    shallowest = heapq.nsmallest(MOST_FILES, rows, key=lambda path: path.count(b"/"))
    chosen = dict.fromkeys((*(path for path in first if path in rows), *shallowest))
    return tuple(map(os.fsdecode, islice(chosen, MOST_FILES)))
