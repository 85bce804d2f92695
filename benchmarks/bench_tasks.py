"""Work on a task list, each beside the least that it could cost.

`samuel run done` in process stands beside decoding and encoding the same file with toons and nothing else, and
reading a PRD beside rendering the same file to HTML.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import toons
from markdown_it import MarkdownIt
from measure import Row, at_most, take_turns
from places import project

from samuel.tasks.changes import complete
from samuel.tasks.formats.markdown import Markdown
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

SIZES = ((100, 60), (1_000, 25), (10_000, 9))  # tasks, rounds
PRD_SIZES = ((100, 25), (1_000, 9), (10_000, 3))


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
        yield at_most(f"reading a PRD with {size:,} tasks, vs markdown-it-py rendering it", ours, bare, 1)


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
