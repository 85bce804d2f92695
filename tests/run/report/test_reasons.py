"""The reason of a handler that refuses the work reaches the outcome, progress.md and the next attempt."""

from __future__ import annotations

from typing import Any

import pytest
from tests.run.conftest import LoopProject

from samuel.history.notices import IterationFailed
from samuel.testing import Recorder

REASON = "the license header is missing"


def refusing(answer: dict[str, Any], strict: bool) -> Recorder:
    """A check that refuses every attempt, and nothing before the first agent."""
    return Recorder(
        "quality.check",
        name="license",
        strict=strict,
        returns=lambda event: answer if event.iteration else None,
    )


@pytest.mark.parametrize("strict", [True, False])
def test_the_reason_of_a_check_is_the_outcome_and_in_progress_and_in_the_next_prompt(
    loop: LoopProject, strict: bool
) -> None:
    loop.tasks("1")
    check = refusing({"ok": False, "reason": REASON}, strict)
    loop.run(2, handlers=[check])
    why = f"`license` failed: {REASON}"
    failed = [report for report in loop.reports if isinstance(report, IterationFailed)]
    assert [(report.outcome, report.why) for report in failed] == [("quality_failed", why)] * 2
    assert loop.store.load()[0].last_failure == f"quality_failed: {why}"
    assert f": {why}\n" in loop.progress()
    assert why in (loop.root / "seen-2.md").read_text()


def test_the_reason_stands_beside_the_failures_of_the_same_check(loop: LoopProject) -> None:
    loop.tasks("1")
    failures = [{"source": "license", "message": "a.py has none"}]
    check = refusing({"ok": False, "reason": REASON, "failures": failures}, strict=False)
    loop.run(1, handlers=[check])
    failure = loop.store.load()[0].last_failure
    assert failure == f"quality_failed: a.py has none\n\n`license` failed: {REASON}"


def test_the_reason_stands_beside_a_command_that_failed(loop: LoopProject) -> None:
    loop.configure('quality_checks = ["test ! -f work-1.txt"]')
    loop.tasks("1")
    loop.run(1, handlers=[refusing({"ok": False, "reason": REASON}, strict=False)])
    failure = loop.store.load()[0].last_failure
    assert failure.startswith("quality_failed: `test ! -f work-1.txt` ended with exit code 1")
    assert failure.endswith(f"`license` failed: {REASON}")


def test_failures_without_a_reason_need_no_second_line(loop: LoopProject) -> None:
    loop.tasks("1")
    failures = [{"source": "license", "message": "a.py has none"}]
    loop.run(1, handlers=[refusing({"ok": False, "failures": failures}, strict=True)])
    assert loop.store.load()[0].last_failure == "quality_failed: a.py has none"


def test_a_gate_that_returns_only_a_mode_lets_the_run_go_on(loop: LoopProject) -> None:
    loop.tasks("1")
    run = loop.run(1, handlers=[Recorder("iteration.gate", returns={"mode": "impl"})])
    assert (run.exit_reason, run.mode, loop.statuses()) == ("queue_empty", "implementation", {"1": "completed"})
