"""What the checks say about an attempt, with the baseline and with the files of the checks put back."""

from __future__ import annotations

from typing import Literal

import pytest

from samuel.checks.verdict import cannot_run, check_runs, failing_commands, judge, record_of
from samuel.events.loop import CheckRun

Tests = dict[str, Literal["passed", "failed", "skipped"]]


def run(passed: bool, tests: Tests | None = None, command: str = "make test", tail: str = "") -> CheckRun:
    return CheckRun(command=command, passed=passed, exit_code=0 if passed else 1, output_tail=tail, tests=tests)


GREEN, RED = run(True), run(False, tail="1 != 2")


def test_checks_that_all_pass_are_a_pass() -> None:
    verdict = judge([GREEN], baseline=[GREEN])
    assert (verdict.passed, verdict.why, verdict.lost_tests) == (True, "", ())


def test_a_failed_check_is_told_with_the_end_of_its_output() -> None:
    verdict = judge([RED, run(True, command="ruff")], baseline=[GREEN])
    assert (verdict.passed, verdict.why) == (False, "`make test` ended with exit code 1\n1 != 2")
    assert [(record.command, record.passed) for record in verdict.records] == [
        ("make test", False),
        ("ruff", True),
    ]


def test_green_is_accepted_and_lost_tests_are_named() -> None:
    before = run(True, {"a": "passed", "b": "passed", "c": "passed"})
    verdict = judge([run(True, {"a": "passed", "b": "skipped"})], baseline=[before])
    assert (verdict.passed, verdict.lost_tests) == (True, ("c", "b"))


def test_tests_that_failed_in_the_baseline_are_accepted_by_their_ids() -> None:
    baseline = [run(False, {"old": "failed", "a": "passed"})]
    same = judge([run(False, {"old": "failed", "a": "passed"})], baseline=baseline)
    assert same.passed
    assert [record.known_failure for record in same.records] == [True]
    worse = judge([run(False, {"old": "failed", "a": "failed"})], baseline=baseline)
    assert (worse.passed, worse.why) == (False, "`make test` ended with exit code 1; not failing before: a")
    assert judge([run(True, {"old": "passed", "a": "passed"})], baseline=baseline).passed


def test_a_check_that_fails_for_another_reason_than_its_known_tests_counts() -> None:
    baseline = [run(False, {"old": "failed"})]
    assert not judge([run(False, {"old": "passed"})], baseline=baseline).passed
    assert not judge([run(False, None)], baseline=baseline).passed


def test_a_known_failure_that_a_task_has_put_right_counts_when_it_comes_back() -> None:
    baseline = [run(False, {"x": "failed", "y": "failed"})]
    before = [run(False, {"x": "passed", "y": "failed"})]
    assert judge([run(False, {"x": "passed", "y": "failed"})], baseline=baseline, before=before).passed
    assert not judge([run(False, {"x": "failed", "y": "failed"})], baseline=baseline, before=before).passed
    assert not judge([RED], baseline=[RED], before=[GREEN]).passed


def test_without_a_report_a_failure_of_the_baseline_is_accepted_by_the_whole_check() -> None:
    verdict = judge([RED, run(False, command="lint")], baseline=[RED, run(True, command="lint")])
    assert not verdict.passed
    assert verdict.why == "`lint` ended with exit code 1"


def test_a_check_that_passes_without_the_report_or_the_tests_it_had_before_fails() -> None:
    baseline = [run(True, {"a": "passed"})]
    assert judge([run(True, None)], baseline=baseline).why == (
        "`make test` passed, but no test ran: it wrote a test report before, and none now"
    )
    for tests in ({}, {"a": "skipped"}):
        verdict = judge([run(True, tests)], baseline=baseline)
        assert (verdict.passed, verdict.why) == (False, "`make test` passed, but no test ran")


NO_TEST = run(True, tail="\nRan 0 tests in 0.000s\n\nOK\n")
ONE_TEST = run(True, tail="\nRan 1 test in 0.000s\n\nOK\n")
NO_TEST_SINCE_3_12 = run(False, tail="\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n")


def test_a_check_that_prints_that_no_test_ran_does_not_pass_if_one_ran_before() -> None:
    verdict = judge([NO_TEST], baseline=[ONE_TEST])
    assert (verdict.passed, verdict.why) == (False, "`make test` passed, but no test ran")
    assert judge([NO_TEST], baseline=[NO_TEST], before=[ONE_TEST]).passed is False, "a task added the test"


def test_a_project_that_has_no_test_yet_is_not_red_for_that() -> None:
    assert judge([NO_TEST], baseline=[NO_TEST]).passed
    assert judge([NO_TEST], baseline=[NO_TEST_SINCE_3_12]).passed
    assert judge([NO_TEST_SINCE_3_12], baseline=[NO_TEST_SINCE_3_12]).passed
    assert judge([ONE_TEST], baseline=[NO_TEST]).passed


def test_tests_are_compared_with_the_last_verified_tree_rather_than_with_the_baseline() -> None:
    baseline, later = [run(True, {"a": "passed"})], [run(True, {"a": "passed", "new": "passed"})]
    verdict = judge([run(True, {"a": "passed"})], baseline=baseline, before=later)
    assert verdict.lost_tests == ("new",)


def test_runs_are_read_from_a_result_and_recorded_with_counts() -> None:
    (check_run,) = check_runs(
        {"ok": False, "checks": [{"command": "x", "passed": False, "tests": {"a": "failed"}}]}
    )
    assert failing_commands([check_run]) == ("x",)
    record = record_of(check_run, corner="old tests")
    assert record.tests is not None
    assert (record.tests.passed, record.tests.failed, record.tests.skipped) == (0, ("a",), 0)
    assert check_runs({}) == ()


@pytest.mark.parametrize(
    "empty",
    [run(False, {}), run(False, None, tail="NO TESTS RAN\nmake: *** [test] Error 5\n")],
    ids=["report", "text"],
)
def test_a_project_without_any_test_is_not_red_and_its_first_tests_are_no_loss(empty: CheckRun) -> None:
    assert failing_commands([empty]) == ()
    assert judge([GREEN], baseline=[empty]).passed
    assert judge([empty], baseline=[empty]).passed
    assert not judge([RED], baseline=[empty]).passed
    assert not judge([run(False, {"a": "failed"})], baseline=[empty]).passed
    assert not judge([empty], baseline=[empty], before=[run(True, {"a": "passed"})]).passed


@pytest.mark.parametrize(
    ("code", "tail", "expected"),
    [
        (127, "sh: 1: pytets: not found", True),
        (126, "sh: 1: ./check.sh: Permission denied", True),
        (2, "sh: pytets: not found\nmake: *** [Makefile:2: test] Error 127", True),
        (2, "make[1]: *** [Makefile:2: test] Error 126\n", True),
        (1, "/usr/bin/python3: No module named pytest\n", True),
        (1, "E   ModuleNotFoundError: No module named 'shop'", False),
        (2, "make: *** [Makefile:2: test] Error 1", False),
        (None, "", False),
    ],
)
def test_a_check_whose_program_is_missing_cannot_run(code: int | None, tail: str, expected: bool) -> None:
    assert cannot_run(CheckRun(command="x", passed=False, exit_code=code, output_tail=tail)) is expected
    assert not cannot_run(CheckRun(command="x", passed=True, exit_code=0, output_tail=tail))


def test_an_attempt_after_which_the_check_cannot_run_failed_also_where_it_failed_before() -> None:
    missing = CheckRun(command="make test", passed=False, exit_code=127)
    assert judge([RED], baseline=[RED]).passed
    assert not judge([missing], baseline=[RED]).passed


def test_a_report_of_a_handler_with_a_failed_test_is_red() -> None:
    (checked,) = check_runs(
        {"checks": [{"command": "x", "passed": True, "exit_code": 0, "tests": {"a": "failed"}}]}
    )
    verdict = judge([checked])
    assert (verdict.passed, verdict.why) == (
        False,
        "`x` ended with exit code 0, but tests of its report failed: a",
    )


@pytest.mark.parametrize(
    ("own", "still_red"),
    [
        pytest.param([RED], ("make test",), id="the whole check stays red"),
        pytest.param([GREEN], (), id="the whole check became green"),
        pytest.param([RED, run(True, command="own")], (), id="a check of the task's own passes"),
        pytest.param([RED, run(True, command="ruff")], ("make test",), id="another check was green before"),
    ],
)
def test_what_was_red_before_is_named_while_nothing_of_it_is_green(
    own: list[CheckRun], still_red: tuple[str, ...]
) -> None:
    verdict = judge(own, baseline=[RED, run(True, command="ruff")])
    assert (verdict.passed, verdict.still_red) == (True, still_red)


@pytest.mark.parametrize(
    ("after", "still_red"),
    [("failed", ("a", "b")), ("skipped", ("a", "b")), (None, ("a", "b")), ("passed", ())],
)
def test_a_red_test_that_is_skipped_or_gone_did_not_become_green(
    after: Literal["passed", "failed", "skipped"] | None, still_red: tuple[str, ...]
) -> None:
    before = run(False, {"a": "failed", "b": "failed", "c": "passed"})
    own = run(False, {"b": "failed", "c": "passed", **({"a": after} if after else {})})
    verdict = judge([own], baseline=[before])
    assert (verdict.passed, verdict.still_red) == (True, still_red)


def test_a_project_without_a_test_yet_was_not_red() -> None:
    before = run(False, {})
    assert judge([run(True, {"a": "passed"})], baseline=[before]).still_red == ()
