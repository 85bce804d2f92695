"""The checks before the first agent."""

from __future__ import annotations

import pytest

from samuel.loop.history import History
from samuel.loop.reports import BaselineChecked, IterationSettled
from samuel.loop.run import Run

from .conftest import GOOD, LoopProject

CHECK = 'quality_checks = ["echo ran >> ran; test ! -f red"]'


@pytest.fixture
def counted(loop: LoopProject) -> LoopProject:
    """A project that counts how often its check ran, where git does not look."""
    with (loop.root / ".gitignore").open("a") as file:
        file.write("ran\nred\n")
    loop.configure(CHECK)
    loop.tasks("1")
    return loop


def runs_of_the_check(loop: LoopProject) -> int:
    file = loop.root / "ran"
    return len(file.read_text().splitlines()) if file.exists() else 0


def baselines(loop: LoopProject) -> list[BaselineChecked]:
    return [report for report in loop.reports if isinstance(report, BaselineChecked)]


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def recorded(loop: LoopProject, run: Run) -> list[bool]:
    """What the history says about the baseline of a run."""
    with loop.open() as app:
        history = History.of(loop.root / ".samuel/run", app.user.record(loop.root / ".samuel/run"))
    return [check.passed for check in history.load(run.run_id).run.baseline]


def test_a_red_check_ends_the_run_before_any_agent_starts(counted: LoopProject) -> None:
    (counted.root / "red").touch()
    run = counted.run()
    assert (run.exit_reason, run.exit_code, run.iterations_run) == ("baseline_failed", 1, 0)
    assert "the checks fail before any agent has worked" in run.exit_message
    assert not (counted.root / "seen-1.md").exists()
    assert counted.statuses() == {"1": "pending"}
    assert [report.accepted for report in baselines(counted)] == [False]
    assert recorded(counted, run) == [False]


def test_without_a_handler_no_baseline_is_reported(counted: LoopProject) -> None:
    counted.configure(CHECK, '[hooks."quality.check"]\nhandlers = []\n')
    assert counted.run().exit_reason == "queue_empty"
    assert (baselines(counted), runs_of_the_check(counted)) == ([], 0)


@pytest.mark.slow
def test_a_green_check_runs_once_before_the_first_task_and_once_for_each(counted: LoopProject) -> None:
    counted.tasks("1", "2")
    run = counted.run()
    assert run.exit_reason == "queue_empty"
    assert runs_of_the_check(counted) == 3
    assert [report.failing for report in baselines(counted)] == [()]
    assert recorded(counted, run) == [True]


def test_an_accepted_failure_does_not_count_against_a_task(counted: LoopProject) -> None:
    counted.configure(f'{CHECK}\nbaseline = "accept"')
    (counted.root / "red").touch()
    assert counted.run().exit_reason == "queue_empty"
    assert [(report.accepted, len(report.failing)) for report in baselines(counted)] == [(True, 1)]


@pytest.mark.slow
def test_a_failure_that_a_task_has_put_right_counts_for_the_next_one(counted: LoopProject) -> None:
    counted.configure(f'{CHECK}\nbaseline = "accept"\nmax_task_attempts = 1')
    counted.tasks("1", "2")
    (counted.root / "red").touch()
    counted.agent('if [ "$SAMUEL_TASK_ID" = 1 ]; then rm red; else touch red; fi\n' + GOOD)
    counted.run()
    assert outcomes(counted) == ["completed", "quality_failed"]


def test_what_a_handler_finds_wrong_is_part_of_the_baseline(counted: LoopProject) -> None:
    counted.configure(CHECK, '[hooks."quality.check"]\nhandlers = ["default", "mine"]\n')
    import samuel

    @samuel.hook("quality.check")
    def mine(event: object) -> dict[str, object]:
        return {"ok": False, "failures": [{"source": "mine", "message": "no licence"}]}

    assert counted.run(handlers=[mine]).exit_reason == "baseline_failed"
    assert [report.failing for report in baselines(counted)] == [("no licence",)]


def test_a_project_without_checks_has_no_baseline(loop: LoopProject) -> None:
    loop.tasks("1")
    assert loop.run().exit_reason == "queue_empty"
    assert baselines(loop) == []


def test_nothing_is_checked_if_there_is_nothing_to_do(counted: LoopProject) -> None:
    counted.tasks("1", status="completed")
    assert counted.run().exit_reason == "queue_empty"
    assert runs_of_the_check(counted) == 0
