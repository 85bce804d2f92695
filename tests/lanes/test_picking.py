"""Which task a free lane gets when some have conflicted: pure functions over tasks and the state of the lanes."""

from __future__ import annotations

from msgspec.structs import replace

from samuel.history.run import AttemptUnderWay, LanesState, Run
from samuel.run.picking import pick
from samuel.tasks.task import Task


def state(conflicts: dict[str, int], alone: str = "") -> Run:
    record = AttemptUnderWay(
        lane=1, iteration=1, task=alone, attempt=3, agent="a", base="b", started_at=0.0, exclusive=True
    )
    active = {alone: record} if alone else {}
    lanes = LanesState(count=2, branch="main", start="b", tip="b", conflicts=conflicts)
    run = Run(run_id="r", methodology="ralph", agent="a", started_at=0.0, max_iterations=9)
    return replace(run, lanes=lanes, active=active)


def picked(run: Run, *, landing: bool = False) -> str:
    task = pick([Task(id="1", title="one"), Task(id="2", title="two")], run, landing=landing)
    return task.id if task else ""


def test_task_that_conflicted_once_starts_beside_a_landing() -> None:
    assert picked(state({"1": 1}), landing=True) == "1"


def test_task_that_works_alone_starts_only_when_nothing_is_about_to_land() -> None:
    assert picked(state({"1": 2}), landing=True) == "2"
    assert picked(state({"1": 2, "2": 2}), landing=True) == ""
    assert picked(state({"1": 2})) == "1"


def test_no_task_that_conflicted_starts_while_one_is_worked_on_alone() -> None:
    assert picked(state({"1": 2, "2": 1}, alone="1")) == ""
    assert picked(state({"1": 2}, alone="1")) == "2"
