"""Work on a task list, each beside the least that it could cost.

`samuel run done` in process stands beside decoding and encoding the same file with toons and nothing else,
reading a PRD beside rendering the same file to HTML, and every other format beside reading its file: all the
blocks of Markdown, or all the values of JSON. Ten times the tasks must take about ten times as long.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import toons
from bench_projects import project
from markdown_it import MarkdownIt
from measure import Row, at_most, take_turns

from samuel.tasks.changes import complete
from samuel.tasks.commonmark import tokens
from samuel.tasks.formats.base import TaskFormat
from samuel.tasks.formats.markdown import Markdown
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.formats.table import format_named
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

SIZES = ((100, 60), (1_000, 25), (10_000, 9))  # tasks, rounds
PRD_SIZES = ((100, 25), (1_000, 9), (10_000, 3))
FORMAT_SIZES = (1_000, 10_000)


def run(scratch: Path) -> Iterator[Row]:
    for size, rounds in SIZES:
        with project(scratch) as root:
            store = TaskStore(root / ".samuel/run")
            store.replace_all(_task(number) for number in range(size))
            text = store.path.read_text()
            numbers = itertools.count()  # each call completes another task

            def done(store: TaskStore = store, numbers: Iterator[int] = numbers) -> None:
                id = _id(next(numbers))
                store.change(lambda tasks: complete(tasks, id, at="2025-01-15T10:23:45.123Z", commit="4f0c2d1"))

            def by_hand(text: str = text) -> None:
                toons.dumps(toons.loads(text))

            ours, bare = take_turns(done, by_hand, rounds=rounds)
        limit = 2 if size >= 1_000 else 4  # below it the lock and the two fsyncs are most of it
        yield at_most(f"run done among {size:,} tasks, vs toons decoding and encoding the file", ours, bare, limit)
    for size, rounds in PRD_SIZES:
        prd = "## Tasks\n" + "".join(_section(number) for number in range(size))
        to_html = MarkdownIt("commonmark").enable("table")

        def read(prd: str = prd) -> None:
            Markdown().read(TaskSource(prd.encode(), name="prd.md"))

        def render(prd: str = prd, to_html: MarkdownIt = to_html) -> None:
            to_html.render(prd)

        ours, bare = take_turns(read, render, rounds=rounds, warm_up=1)
        yield at_most(f"reading a PRD with {size:,} tasks, vs markdown-it-py rendering it", ours, bare, 1.2)
    yield from _formats()


def _formats() -> Iterator[Row]:
    few, many = FORMAT_SIZES
    for name, (make, by_hand, limit) in FORMATS.items():
        format = format_named(name)
        small, large = make(few).encode(), make(many).encode()
        assert len(format.read(TaskSource(large, name=name)).tasks) == many

        def read(format: TaskFormat = format, data: bytes = large, name: str = name) -> None:
            format.read(TaskSource(data, name=name))

        def parse(by_hand: Callable[[str], object] = by_hand, data: bytes = large) -> None:
            by_hand(data.decode())

        def read_parts(format: TaskFormat = format, data: bytes = small, name: str = name) -> None:
            for _ in range(many // few):
                format.read(TaskSource(data, name=name))

        ours, bare = take_turns(read, parse, rounds=3, warm_up=1)
        yield at_most(f"reading {many:,} tasks of {name}, vs parsing the file and nothing else", ours, bare, limit)
        ours, bare = take_turns(read, read_parts, rounds=3, warm_up=1)
        yield at_most(f"reading {many:,} tasks of {name}, vs ten times {few:,} of them", ours, bare, 1.5)


def _openspec(size: int) -> str:
    boxes = (f"- [ ] {number // 10 + 1}.{number % 10 + 1} Make part {number} work\n" for number in range(size))
    return "".join(
        f"\n## {number // 10 + 1}. Part\n\n{box}" if number % 10 == 0 else box for number, box in enumerate(boxes)
    )


def _spec_kit(size: int) -> str:
    return "## Phase 1: Setup\n\n" + "".join(
        f"- [ ] T{number:05} [P] [US{number % 7}] Make part {number} work in src/part_{number}.py\n"
        for number in range(size)
    )


def _prd_json(size: int) -> str:
    stories = [
        {
            "id": f"US-{number}",
            "title": f"Part {number}",
            "acceptanceCriteria": ["it works"],
            "priority": number,
            "passes": False,
        }
        for number in range(size)
    ]
    return json.dumps({"userStories": stories}, indent=2)


def _task_master(size: int) -> str:
    tasks = [
        {
            "id": number,
            "title": f"Part {number}",
            "status": "pending",
            "dependencies": [number - 1] if number else [],
        }
        for number in range(size)
    ]
    return json.dumps({"master": {"tasks": tasks}}, indent=2)


def _beads(size: int) -> str:
    issues = (
        {
            "id": f"bd-{number}",
            "title": f"Part {number}",
            "status": "open",
            "priority": number % 5,
            "issue_type": "task",
            "dependencies": [{"depends_on_id": f"bd-{number - 1}", "type": "blocks"}] if number else [],
        }
        for number in range(size)
    )
    return "".join(f"{json.dumps(issue)}\n" for issue in issues)


def _github(size: int) -> str:
    issues = [
        {"number": number, "title": f"Part {number}", "body": f"Depends on #{number - 1}", "state": "OPEN"}
        for number in range(1, size + 1)
    ]
    return json.dumps(issues)


def _lines(text: str) -> list[object]:
    return [json.loads(line) for line in text.splitlines()]


FORMATS: dict[str, tuple[Callable[[int], str], Callable[[str], object], float]] = {
    "openspec": (_openspec, tokens, 4),
    "spec-kit": (_spec_kit, tokens, 4),
    "prd.json": (_prd_json, json.loads, 30),
    "task-master": (_task_master, json.loads, 30),
    "beads": (_beads, _lines, 10),
    "github": (_github, json.loads, 30),
}


def _id(number: int) -> str:
    return f"{number // 10 + 1}.{number % 10 + 1}"


def _section(number: int) -> str:
    return f"""
### {_id(number)} Task {number}: make it work [~3,000 tokens - Medium]
What there is to say about it.

It has a second paragraph for {number}.
- a point
- [ ] a criterion

Files: src/part_{number}.py, tests/test_part_{number}.py (new)
"""


def _task(number: int) -> Task:
    return Task(
        id=_id(number),
        title=f"Task {number}: make it work, and keep it working",
        description=f'What there is to say about it.\nIt has a second line, and a "quoted" word for {number}.',
        parent_id=_id(number - number % 10) if number % 10 else "",
        depends_on=(_id(number - 1),) if number % 10 else (),
        files_to_modify=(f"src/part_{number}.py", f"tests/test_part_{number}.py"),
    )
