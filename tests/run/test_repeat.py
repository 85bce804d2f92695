"""A check that failed is run once more: one that passes then is flaky, and no task is accused of it."""

from __future__ import annotations

import pytest

import samuel
from samuel.history.history import History
from samuel.history.notices import CheckEnded, IterationFailed, IterationSettled

from .conftest import GOOD, LoopProject

# Fails where `flake` says so, once: what the check counts is not of git's business.
FLAKY = 'evidence = "in place"\nquality_checks = ["sh test.sh"]\nmax_task_attempts = 1'
TEST = "echo ran >> ran\nif test -f flake; then rm flake; echo ECONNRESET; exit 1; fi\n! grep -q wrong code.txt\n"


@pytest.fixture
def flaky(loop: LoopProject) -> LoopProject:
    (loop.root / ".gitignore").write_text("seen-*\nenv-*\nran\nflake\n")
    (loop.root / "test.sh").write_text(TEST)
    (loop.root / "code.txt").write_text("right\n")
    loop.configure(FLAKY)
    loop.tasks("1")
    return loop


def ended(loop: LoopProject) -> list[tuple[bool, bool]]:
    """Of each check after the baseline: whether it passed, and whether it was run once more."""
    reports = [report for report in loop.reports if isinstance(report, CheckEnded)]
    return [(report.passed, report.repeated) for report in reports[1:]]


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def test_a_check_that_fails_once_is_flaky_and_counts_as_passed(flaky: LoopProject) -> None:
    flaky.agent("touch flake\n" + GOOD)
    run = flaky.run()
    assert (outcomes(flaky), ended(flaky)) == (["completed"], [(False, False), (True, True)])
    with flaky.open() as app:
        state = flaky.root / ".samuel/run"
        (attempt,) = History.of(state, app.user.record(state)).load(run.run_id).attempts
    assert [(check.passed, check.flaky, check.output_tail) for check in attempt.checks] == [
        (True, True, "ECONNRESET\n")
    ]
    assert attempt.grade == "checked"


def test_a_check_that_fails_twice_has_failed(flaky: LoopProject) -> None:
    flaky.agent("echo wrong > code.txt\n" + GOOD)
    flaky.run()
    assert (outcomes(flaky), ended(flaky)) == (["quality_failed"], [(False, False), (False, True)])


def test_one_flake_with_the_verified_files_accuses_nobody(flaky: LoopProject) -> None:
    flaky.agent("touch flake\necho 'grep -q right code.txt' >> test.sh\n" + GOOD)
    flaky.run()
    assert not [report for report in flaky.reports if isinstance(report, IterationFailed)]
    assert outcomes(flaky) == ["completed"]
    # With its own files, once more, and with the tests as they were.
    assert ended(flaky) == [(False, False), (True, True), (True, False)]
    assert (flaky.root / "test.sh").read_text().endswith("grep -q right code.txt\n")


def test_a_softened_test_is_still_found_when_it_is_repeated(flaky: LoopProject) -> None:
    flaky.agent("echo wrong > code.txt\necho true > test.sh\n" + GOOD)
    flaky.run()
    assert outcomes(flaky) == ["disputed"]
    assert ended(flaky) == [(True, False), (False, False), (False, True)]


def test_a_failure_that_was_accepted_is_not_repeated(flaky: LoopProject) -> None:
    (flaky.root / "code.txt").write_text("wrong\n")
    flaky.configure(f'{FLAKY}\nbaseline = "accept"')
    flaky.run()
    # The baseline is run twice, as it would stop the night; after the agent nothing is.
    assert ended(flaky) == [(False, True), (False, False)]


def test_a_check_that_cannot_run_is_not_repeated(flaky: LoopProject) -> None:
    flaky.agent("echo 'exit 127' > test.sh\n" + GOOD)
    flaky.run()
    assert (outcomes(flaky), ended(flaky)) == (["quality_failed"], [(False, False)])


def test_handlers_of_other_people_are_not_called_again(flaky: LoopProject) -> None:
    calls: list[str] = []

    @samuel.hook("quality.check")
    def mine(event: samuel.QualityCheck) -> dict[str, object]:
        calls.extend(event.commands)
        run = {"command": "sh test.sh", "passed": len(calls) != 2, "exit_code": int(len(calls) == 2)}
        return {"ok": bool(run["passed"]), "checks": [run]}

    flaky.configure(FLAKY, '[hooks."quality.check"]\nhandlers = ["mine"]\n')
    flaky.run(handlers=[mine])
    assert (len(calls), outcomes(flaky)) == (2, ["quality_failed"])
