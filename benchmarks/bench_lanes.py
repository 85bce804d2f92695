"""Several agents at once: how much sooner tasks are done, and what the coordinator costs beside bare git."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench_projects import project
from measure import Row, Times, at_most
from msgspec.structs import replace

import samuel
from samuel.app import App, Overrides
from samuel.app.lanes import lane_options
from samuel.app.loop import ONE_LANE, steps_of
from samuel.attempt.protect import Protected
from samuel.attempt.run_files import RunFiles
from samuel.attempt.stop import Stop
from samuel.checks.memory import CheckMemory
from samuel.events.endings import IterationOutcome
from samuel.history.notices import ignore_reports
from samuel.history.run import AttemptResult, AttemptUnderWay, Run, Settlement, TaskCells
from samuel.history.run_file import RunFile
from samuel.history.run_state import RunState
from samuel.history.tree_state import NO_TREE
from samuel.process import environment
from samuel.run.landing import settle_landed
from samuel.run.ledger import TaskLedger
from samuel.run.run_history import RunHistoryWriter
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task
from samuel.workspaces.lanes.branch import Branch, first_state
from samuel.workspaces.lanes.lane import LANDING, Lane
from samuel.workspaces.lanes.merging import Merging

TASKS = 60
SECONDS = 0.5
LANES = 4
MERGES = 40
CONFIG = """
[methodology.ralph]
agent = "scripted"
pause = "0s"
commit = true
max_iterations = 1000
"""


def run(scratch: Path) -> Iterator[Row]:
    parallel, serial = _wall(scratch, LANES), _wall(scratch, 1)
    yield at_most(
        f"{TASKS} tasks of {SECONDS:g} s: {LANES} lanes vs one",
        Times(parallel, parallel),
        Times(serial, serial),
        0.35,
    )
    pairs = list(zip(_coordinator(scratch), _bare(scratch), strict=True))  # in turns
    ours, bare = (_median([pair[side] for pair in pairs]) for side in (0, 1))
    yield at_most("landing one task, its row and its record, vs bare git", ours, bare, 1.5)


def _wall(scratch: Path, lanes: int) -> float:
    """How long a run takes whose agents only wait and write a file."""

    @samuel.hook("agent.invoke")
    def agent(event: Any) -> dict[str, Any]:
        time.sleep(SECONDS)
        (Path(event.project_root) / f"work-{event.env['SAMUEL_TASK_ID']}.txt").write_text("done\n")
        return {"exit_code": 0, "stdout": "", "stderr": "", "claimed": True}

    with project(scratch) as root:
        _repository(root)
        with App(root, overrides=Overrides(trust_everything=True), handlers=[agent]) as app:
            started = time.perf_counter()
            ended = app.loop(Stop(), parallel=lanes).run(1000, ["scripted"])
            seconds = time.perf_counter() - started
        assert ended.outcomes == {"completed": TASKS}, ended
    return seconds


def _coordinator(scratch: Path) -> Iterator[float]:
    """What the coordinator does for a task that is ready: merge, commit, transaction, work tree, row, record."""
    with (
        project(scratch) as root,
        App(_repository(root, checks=""), overrides=Overrides(trust_everything=True)) as app,
    ):
        stop, place = Stop(), app.workplace
        options = lane_options(app, stop, ONE_LANE, timings=False)
        lanes, _ = first_state(place.git, "run-bench", 1, own=False)
        begun = Run(run_id="run-bench", methodology="ralph", agent="scripted", started_at=0.0, max_iterations=99)
        file = RunFile(place.state, place.record, place.disk)
        state = RunState(file.save)
        state.begin(replace(begun, lanes=lanes, tree=NO_TREE))
        branch = Branch(place, state, options.directory / "merges")
        lane = Lane(LANDING, place, options.directory, Protected(root))
        lane.make(lanes.tip)
        lane.open(options.open_lane, ignore_reports)
        merging = Merging(lane, branch.refs, CheckMemory(None, "run-bench"))
        files = RunFiles.pinned(place, stop)
        history = RunHistoryWriter(place)
        ledger = TaskLedger(place, steps_of(app, stop, timings=False), files.tasks, state, history)
        works = _works(root)
        tasks = {task.id: task for task in place.tasks.load()}
        with ledger.sealed():
            for number, work in enumerate(works, 1):
                record = _ready(str(number), work, lanes.start)
                state.change(partial(Run.begin, record=record))
                ledger.take(record)
                tree = branch.refs.facts(work)[0][0]
                started = time.perf_counter()
                tip = branch.tip()
                prepared = merging.prepare(state.run, [record], tasks, tip, (tree,), branch.name)
                assert branch.move(prepared), prepared
                settle_landed(ledger, [record], prepared.commit, tree)
                yield time.perf_counter() - started
        lane.close()


def _bare(scratch: Path) -> Iterator[float]:
    """The same merges by the git commands alone: the tip, a merge, a commit, a transaction, the work tree."""
    with project(scratch) as root:
        _repository(root)
        env = environment.clean()

        def git(*arguments: str, text: str = "") -> str:
            done = subprocess.run(
                ["git", *arguments], cwd=root, env=env, input=text, capture_output=True, text=True, check=True
            )
            return done.stdout.strip()

        for number, work in enumerate(_works(root), 1):
            started = time.perf_counter()
            tip = git("rev-parse", "refs/heads/main")
            git("status", "--porcelain")
            tree = git("merge-tree", "--write-tree", tip, work)
            commit = git("commit-tree", "-p", tip, "-p", work, "-m", f"{number}", tree)
            lines = f"start\nupdate refs/heads/main {commit} {tip}\ncreate refs/landed/{number} {commit}\n"
            git("update-ref", "--stdin", text=f"{lines}prepare\ncommit\n")
            git("read-tree", "-m", "-u", tip, commit)
            yield time.perf_counter() - started


def _repository(root: Path, checks: str = 'quality_checks = ["true"]') -> Path:
    (root / "samuel.toml").write_text(f"{CONFIG}{checks}\n")
    (root / ".gitignore").write_text(".samuel/run/\n")
    tasks = [Task(id=str(number), title=f"Task {number}") for number in range(1, TASKS + 1)]
    TaskStore(root / ".samuel/run").replace_all(tasks)
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "bench"),
        ("config", "user.email", "bench@example.org"),
        ("add", "-A"),
        ("commit", "-q", "-m", "begin"),
    ):
        subprocess.run(["git", *arguments], cwd=root, env=environment.clean(), check=True)
    return root


def _works(root: Path) -> list[str]:
    """Commits on the first one, each with a file of its own."""
    env = {**environment.clean(), "GIT_INDEX_FILE": str(root / ".git/bench-index")}

    def git(*arguments: str, text: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=root, env=env, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    works = []
    for number in range(1, MERGES + 1):
        blob = git("hash-object", "-w", "--stdin", text=f"{number}\n")
        git("read-tree", "main")
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},work-{number}.txt")
        works.append(git("commit-tree", "-p", "main", "-m", f"{number}", git("write-tree")))
    os.unlink(env["GIT_INDEX_FILE"])
    return works


def _ready(task: str, work: str, base: str) -> AttemptUnderWay:
    settlement = Settlement(IterationOutcome.COMPLETED, False, task, row=TaskCells(status="completed"), attempt=1)
    result = AttemptResult(settlement=settlement, work=work)
    return AttemptUnderWay(
        lane=1,
        iteration=int(task),
        task=task,
        attempt=1,
        agent="scripted",
        base=base,
        started_at=0.0,
        result=result,
    )


def _median(samples: list[float]) -> Times:
    ordered = sorted(samples)
    return Times(ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)])
