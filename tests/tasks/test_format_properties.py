"""Whatever is in a source: n tasks are read as n, a mark changes the status of one, and no text is a crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from samuel.base.errors import SamuelError
from samuel.tasks import graph
from samuel.tasks.formats.base import ImportedTasks, TaskFormat
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.formats.table import FORMATS, fitting_formats, format_named
from samuel.tasks.task import Task

from . import format_examples as examples

WORDS = st.from_regex(r"[A-Z][a-z]{1,8}( [a-z]{1,6}){0,2}", fullmatch=True)
Rows = list[tuple[str, bool]]  # a title, and whether it is done


def _openspec(rows: Rows) -> str:
    boxes = (
        f"- [{'x' if done else ' '}] {n // 5 + 1}.{n % 5 + 1} {title}\n" for n, (title, done) in enumerate(rows)
    )
    return "".join(f"\n## {n // 5 + 1}. Part\n\n{box}" if n % 5 == 0 else box for n, box in enumerate(boxes))


def _spec_kit(rows: Rows) -> str:
    boxes = (f"- [{'x' if done else ' '}] T{n:03} [P] [US1] {title}" for n, (title, done) in enumerate(rows, 1))
    return "## Phase 1: User Story 1 - All (Priority: P1)\n\n" + "\n".join(boxes) + "\n"


def _markdown(rows: Rows) -> str:
    tasks = (
        f"### {'[x] ' if done else '[ ] '}{n} {title}\nWords of {n}.\n- [ ] a criterion\n"
        for n, (title, done) in enumerate(rows, 1)
    )
    return "# PRD\n\n## Tasks\n" + "".join(tasks)


def _table(rows: Rows) -> str:
    cells = (f"| A-{n} | {title} | {'done' if done else 'todo'} |\n" for n, (title, done) in enumerate(rows, 1))
    return "| ID | Task | Status |\n|---|---|---|\n" + "".join(cells)


def _prd_json(rows: Rows) -> str:
    stories = [
        {"id": f"US-{n}", "title": title, "priority": n, "passes": done} for n, (title, done) in enumerate(rows)
    ]
    return json.dumps({"project": "P", "userStories": stories}, indent=1)


def _task_master(rows: Rows) -> str:
    tasks = [
        {"id": n, "title": title, "status": "done" if done else "pending", "dependencies": []}
        for n, (title, done) in enumerate(rows)
    ]
    return json.dumps({"other": {"tasks": []}, "master": {"tasks": tasks, "metadata": {}}})


def _beads(rows: Rows) -> str:
    issues = (
        {
            "id": f"b-{n}",
            "title": title,
            "status": "closed" if done else "open",
            "priority": 2,
            "issue_type": "task",
        }
        for n, (title, done) in enumerate(rows)
    )
    return "".join(f"{json.dumps(issue)}\n" for issue in issues)


def _github(rows: Rows) -> str:
    return json.dumps(
        [
            {"number": n, "title": title, "state": "CLOSED" if done else "OPEN"}
            for n, (title, done) in enumerate(rows, 1)
        ]
    )


def _bmad(rows: Rows) -> str:
    statuses = (
        f"  1-{n}-{title.lower().replace(' ', '-')}: {'done' if done else 'backlog'}\n"
        for n, (title, done) in enumerate(rows, 1)
    )
    return "development_status:\n  epic-1: backlog\n" + "".join(statuses)


DOCUMENTS: list[tuple[str, str, Callable[[Rows], str]]] = [
    ("openspec", "tasks.md", _openspec),
    ("spec-kit", "tasks.md", _spec_kit),
    ("markdown", "prd.md", _markdown),
    ("markdown", "table.md", _table),
    ("prd.json", "prd.json", _prd_json),
    ("task-master", "tasks.json", _task_master),
    ("beads", "issues.jsonl", _beads),
    ("github", "issues.json", _github),
    ("bmad", "sprint-status.yaml", _bmad),
]


def statuses(imported: ImportedTasks) -> list[bool]:
    return [task.status == "completed" for task in imported.tasks]


def without_status(imported: ImportedTasks) -> list[Task]:
    return [replace(task, status="pending", depends_on=()) for task in imported.tasks]


@pytest.mark.parametrize(("name", "file", "document"), DOCUMENTS)
@given(
    rows=st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=7),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_document_of_n_tasks_gives_n_tasks_and_a_mark_changes_the_status_of_one(
    name: str, file: str, document: Callable[[Rows], str], rows: Rows, line_end: str
) -> None:
    path = Path("/nowhere") / file
    text = document(rows).replace("\n", line_end)
    source = TaskSource(text.encode(), path)
    assert [format.name for format, _ in fitting_formats(source)] == [name]
    format = format_named(name)
    imported = format.read(source)
    assert len(imported.tasks) == len(rows)
    assert statuses(imported) == [done for _, done in rows]
    for index, (_, done) in enumerate(rows):
        mark = format.mark_done(source, imported, index)
        if mark is None:
            assert not format.marks
            continue
        marked = text[: mark.start] + mark.new + text[mark.end :]
        assert (marked == text) == done
        again = format.read(TaskSource(marked.encode(), path))
        assert without_status(again) == without_status(imported)
        assert statuses(again) == [row_done or row == index for row, (_, row_done) in enumerate(rows)]


@pytest.mark.parametrize(("name", "file", "document"), DOCUMENTS)
def test_a_long_document_is_read_and_counted(name: str, file: str, document: Callable[[Rows], str]) -> None:
    rows = [(f"Task number {n}", n % 3 == 0) for n in range(1_000)]
    imported = format_named(name).read(TaskSource(document(rows).encode(), Path("/nowhere") / file))
    assert len(imported.tasks) == len(rows)
    assert sum(statuses(imported)) == sum(done for _, done in rows)


JSON_PIECES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "id",
                        "title",
                        "status",
                        "tasks",
                        "subtasks",
                        "dependencies",
                        "userStories",
                        "passes",
                        "priority",
                    ),
                    *("number", "labels", "name", "body", "state", "blockedBy", "parent", "subIssues", "master"),
                    *(
                        "issue_type",
                        "depends_on_id",
                        "type",
                        "verificationCommands",
                        "acceptanceCriteria",
                        "nodes",
                    ),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
TEXT_PIECES = st.sampled_from(
    [
        *(
            "## Tasks\n",
            "## 1. Part\n",
            "### US-001: A\n",
            "### B\n",
            "- [ ] 1.1 C\n",
            "- [x] T001 [P] [US1] D\n",
            "  - [ ] E\n",
        ),
        *(
            "## Phase 1: Setup\n",
            "## Epic 1: E\n",
            "### Story 1.1: S\n",
            "Status: done\n",
            "**Acceptance Criteria:**\n",
        ),
        *(
            "| ID | Task | Status |\n|---|---|---|\n",
            "| 1 | a | todo |\n",
            "1. F\n",
            "- g\n",
            "Depends on: 1.1\n",
            "\r",
            "\ufeff",
        ),
        *(
            "development_status:\n",
            "  1-1-a: done\n",
            "  epic-1: x\n",
            "```\n",
            "<!--\n",
            "(after 1)",
            "\n",
            "{",
            "[",
            "Goal: x\n",
        ),
    ]
)


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
@given(text=st.lists(TEXT_PIECES | st.text(max_size=8), max_size=15).map("".join) | JSON_PIECES.map(json.dumps))
def test_any_text_gives_tasks_that_fit_together_or_a_proper_error(format: TaskFormat, text: str) -> None:
    name = "sprint-status.yaml" if format.name == "bmad" and "development_status" in text else "tasks.md"
    source = TaskSource(text.encode(errors="replace"), Path("/nowhere") / name)
    try:
        format.recognise(source)
        imported = format.read(source)
    except SamuelError:
        return
    assert graph.problems(imported.tasks) == []
    assert len(imported.lines) == len(imported.tasks)
    for index in range(len(imported.tasks)):
        mark = format.mark_done(source, imported, index)
        assert mark is None or 0 <= mark.start <= mark.end <= len(source.exact_text)


@given(
    data=st.binary(max_size=40), cut=st.integers(0, 400), name=st.sampled_from(sorted({d[0] for d in DOCUMENTS}))
)
def test_bytes_and_documents_that_are_cut_off_are_no_crash(data: bytes, cut: int, name: str) -> None:
    example: dict[str, Any] = {
        "prd.json": examples.PRD_JSON,
        "task-master": examples.TASK_MASTER[".taskmaster/tasks/tasks.json"],
        "beads": examples.BEADS,
        "github": examples.GITHUB,
    }
    text = example.get(name, examples.STORIES).encode()
    source = TaskSource(text[:cut] + data, Path("/nowhere/file"))
    with suppress(SamuelError):
        format_named(name).read(source)
