"""run.json and the redo record in it: what is refused when it is read, and the exit code that follows from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from samuel.base.errors import ConfigError
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.run import UNCHANGED, AttemptResult, AttemptUnderWay, Run, Settlement, TaskCells
from samuel.history.run_file import RunFile
from samuel.tasks.task import Task

RUN = Run(run_id="run-1", methodology="ralph", agent="x", started_at=0, max_iterations=5)
UNDER_WAY = AttemptUnderWay(iteration=1, task="1", attempt=1, agent="x", started_at=0)
SETTLEMENT = Settlement(
    IterationOutcome.QUALITY_FAILED,
    failed=True,
    task_id="1",
    row=TaskCells(status="pending", claimed=False, attempts=2, iteration=3, last_failure="make test"),
)


def decided(settlement: Settlement) -> Run:
    """A run that has decided about a task, and not carried that out."""
    result = AttemptResult(settlement=settlement)
    return replace(RUN, active={"1": replace(UNDER_WAY, result=result)})


def test_a_settlement_is_read_as_it_was_saved(tmp_path: Path) -> None:
    run = replace(decided(SETTLEMENT), outcomes={IterationOutcome.STALLED: 2})
    RunFile(tmp_path).save(run)
    assert RunFile(tmp_path).load() == run


def test_run_json_holds_only_the_cells_that_a_settlement_changes(tmp_path: Path) -> None:
    RunFile(tmp_path).save(decided(Settlement(IterationOutcome.STALLED, failed=True)))
    saved = json.loads((tmp_path / "run.json").read_text())
    settlement = saved["active"]["1"]["result"]["settlement"]
    assert (settlement["outcome"], settlement["row"], saved["exit_reason"]) == ("stalled", {}, None)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"settlement": {"row": {"status": "finished"}}},
            "`active[...].result.settlement.row.status` must be one of `pending`, `in_progress`, `completed`, "
            "`skipped`, `blocked`, `waiting`, not `finished`",
        ),
        (
            {"settlement": {"row": {"attempts": "two"}}},
            "`active[...].result.settlement.row.attempts` must be an integer, not a string",
        ),
        (
            {"settlement": {"row": {"title": "x"}}},
            "`active[...].result.settlement.row.title` is not a known field",
        ),
        ({"settlement": {"outcome": "fine"}}, "`active[...].result.settlement.outcome` cannot be `fine`"),
        ({"exit_reason": "tired"}, "`exit_reason` cannot be `tired`"),
        ({"mode": "sleep"}, "`mode` must be one of `implementation`, `discovery`, `acceptance`, not `sleep`"),
    ],
)
def test_a_corrupt_run_json_is_refused_with_the_field_that_is_wrong(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    RunFile(tmp_path).save(decided(SETTLEMENT))
    file = tmp_path / "run.json"
    saved = json.loads(file.read_text())
    for name, value in changes.items():
        if name == "settlement":
            saved["active"]["1"]["result"][name] |= value
        else:
            saved[name] = value
    file.write_text(json.dumps(saved))
    with pytest.raises(ConfigError) as error:
        RunFile(tmp_path).load()
    (found_problem,) = error.value.problems
    assert (found_problem.what, found_problem.file) == (f"cannot be read: {problem}", str(file))
    assert found_problem.hint == "move it away; the tasks are in prd.toon and stay as they are"


def test_applying_cells_changes_them_and_nothing_else() -> None:
    task = Task(id="1", title="One", status="in_progress", attempts=1, commit_sha="abc", extra={"owner": "me"})
    assert UNCHANGED.applied_to(task) == task
    settled = SETTLEMENT.row.applied_to(task)
    assert settled == replace(task, status="pending", attempts=2, iteration=3, last_failure="make test")
    assert SETTLEMENT.row.applied_to(settled) == settled


@pytest.mark.parametrize("reason", ExitReason)
def test_the_exit_code_of_a_run_is_that_of_its_exit_reason(reason: ExitReason) -> None:
    assert replace(RUN, exit_reason=reason).exit_code == reason.exit_code


@pytest.mark.parametrize("reason", ExitReason)
def test_a_run_in_which_every_iteration_failed_has_no_exit_code_0(reason: ExitReason) -> None:
    run = replace(RUN, exit_reason=reason, iterations_run=2, consec_fails=2)
    assert run.exit_code == (reason.exit_code or 1)


def test_a_complaint_of_a_strict_handler_makes_the_exit_code_1() -> None:
    run = replace(RUN, exit_reason=ExitReason.QUEUE_EMPTY, iterations_run=1, succeeded=1)
    assert (run.exit_code, run.complain("after:loop", "no").exit_code) == (0, 1)
