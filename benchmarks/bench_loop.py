"""What an iteration costs besides its agent, its checks and its pause; and whether a long run stays small."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench_context import BARE, make
from bench_memory import resident
from bench_projects import project
from measure import Row, Times, at_most, take_turns

import samuel
from samuel.app import App, Overrides
from samuel.attempt.stop import Stop
from samuel.process import environment
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

TASKS = 60
SOME = 5  # iterations of a run that is timed as a whole: starting it is not what is measured
LONG = 1_000
CONFIG = """
[methodology.ralph]
agent = "scripted"
pause = "0s"
max_task_attempts = 100000
max_consecutive_failures = 100000
"""


def run(scratch: Path) -> Iterator[Row]:
    for count, rounds in ((1_000, 15), (10_000, 9), (100_000, 5)):
        with project(scratch) as root:
            (root / ".samuel" / "hooks").rmdir()
            (root / ".samuel").rmdir()
            root.rmdir()
            make(root, count)
            yield from _measure(root, f"{count // 1000}k files", rounds)
    with project(scratch) as root:
        yield _long(root)


def _measure(root: Path, what: str, rounds: int) -> Iterator[Row]:
    prepare(root)
    time.sleep(1.1)
    bare = [_command(root, command) for command in BARE]
    bare[1]()
    with App(root, overrides=Overrides(trust_everything=True), handlers=[agent(root, change=0)]) as app:
        started = time.perf_counter()
        iterations(app)
        cold = time.perf_counter() - started
        ours, *others = take_turns(lambda: iterations(app, SOME), *bare, rounds=rounds, warm_up=1)
        ours = Times(ours.p50 / SOME, ours.p95 / SOME)
    total = Times(sum(times.p50 for times in others), sum(times.p95 for times in others))
    yield at_most(
        f"an iteration over {what}, nothing known, vs ls-files + status + grep + log", Times(cold, cold), total, 2
    )
    yield at_most(f"an iteration over {what}, nothing changed, vs the same", ours, total, 2)
    with App(root, overrides=Overrides(trust_everything=True), handlers=[agent(root, change=5)]) as app:
        ours, status = take_turns(lambda: iterations(app, SOME), bare[1], rounds=rounds, warm_up=1)
        ours = Times(ours.p50 / SOME, ours.p95 / SOME)
    yield at_most(f"an iteration over {what} after 5 changed files, vs git status", ours, status, 1.5)


def _long(root: Path) -> Row:
    prepare(root)
    with App(root, overrides=Overrides(trust_everything=True), handlers=[agent(root, change=0)]) as app:
        iterations(app, 50)
        before = resident()
        iterations(app, LONG)
        after = resident()
    grown = (after - before) / 1024
    return Row(
        f"memory over a run of {LONG:,} iterations",
        f"{after / 1024:.0f} KiB",
        f"{before / 1024:.0f} KiB",
        f"{grown:+.0f} KiB",
        "flat (<= 2048 KiB)",
        grown <= 2048,
    )


def prepare(root: Path) -> None:
    (root / "samuel.toml").write_text(CONFIG)
    TaskStore(root / ".samuel/run").replace_all([Task(id=str(n), title=f"Task {n}") for n in range(1, TASKS + 1)])


def agent(root: Path, change: int) -> Callable[..., Any]:
    """An agent that costs nothing: what is left is the iteration itself."""
    paths = sorted(root.glob("package000/part0/*.py"))[:change]

    @samuel.hook("agent.invoke")
    def nothing(event: Any) -> dict[str, Any]:
        for path in paths:
            with path.open("a") as file:
                file.write("# changed\n")
        return {"exit_code": 0, "stdout": "", "stderr": ""}

    return nothing


def iterations(app: App, count: int = 1) -> None:
    run = app.loop(Stop()).run(count, ["scripted"])
    assert run.iterations_run == count, run


def _command(root: Path, command: tuple[str, ...]) -> Callable[[], object]:
    env = environment.clean()
    return lambda: subprocess.run(command, cwd=root, env=env, stdout=subprocess.DEVNULL, check=False)
