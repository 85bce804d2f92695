"""Putting a settlement into the task file, and into git if asked. Done twice, it is done once."""

from __future__ import annotations

from msgspec.structs import replace

from samuel.errors import SamuelError
from samuel.process import spawn
from samuel.ralph.run import Run, Settlement
from samuel.ralph.workplace import Workplace
from samuel.tasks.task import Task

TRAILER = "Samuel-Iteration"
SECONDS = 120.0


def apply(place: Workplace, run: Run) -> None:
    """What the run wrote down as decided becomes true."""
    settlement = run.settlement
    assert settlement is not None
    if not settlement.task_id:
        return
    row = dict(settlement.row)
    if settlement.commit is not None:
        row["commit_sha"] = _commit(place, run, settlement)

    def settled(tasks: tuple[Task, ...]) -> list[Task]:
        return [replace(task, **row) if task.id == settlement.task_id else task for task in tasks]

    place.tasks.change(settled)


def _commit(place: Workplace, run: Run, settlement: Settlement) -> str:
    """One commit for the task, of what the iteration changed and nothing that was dirty before the run."""
    mark = f"{TRAILER}: {run.run_id}/{run.iteration}"
    try:
        if mark in place.git.run("log", "-1", "--format=%B").decode("utf-8", "replace"):
            return place.git.head()  # a run killed right after it had committed
        if not settlement.commit:
            return ""
        title = next((task.title for task in place.tasks.load() if task.id == settlement.task_id), "")
        paths = [f":(top,literal){path}" for path in settlement.commit]
        _git(place, "add", "--all", "--", *paths)
        _git(
            place,
            "commit",
            "--quiet",
            "--no-verify",
            "-m",
            f"{settlement.task_id} {title}\n\n{mark}",
            "--",
            *paths,
        )
        return place.git.head()
    except SamuelError as error:
        place.watch("warning", {"text": f"the commit of task {settlement.task_id} failed: {error.message}"})
        return ""


def _git(place: Workplace, *arguments: str) -> None:
    """Git as its owner set it up, filters included: what is committed must be what they would have committed."""
    done = spawn.run(["git", *arguments], cwd=str(place.root), env=place.environment, timeout=SECONDS)
    if done.ended != "exited" or done.returncode != 0:
        raise SamuelError(
            done.why or done.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed"
        )
