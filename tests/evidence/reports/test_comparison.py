"""What two runs differ in, test by test."""

from __future__ import annotations

from datetime import UTC, datetime

from samuel.evidence.reports.comparison import compare, fail_to_pass, not_run
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, merged, suite_report


def report(**tests: CaseResult | FailureKind) -> SuiteReport:
    """A report of tests by their results, or by the kinds of their failures."""
    return suite_report(
        "pytest",
        [
            ReportedTest(id, result) if result in ("passed", "skipped") else ReportedTest(id, "failed", result)  # type: ignore[arg-type]
            for id, result in tests.items()
        ],
    )


def test_a_comparison_names_what_became_worse() -> None:
    before: dict[str, CaseResult] = {
        "a": "passed",
        "b": "failed",
        "c": "passed",
        "d": "passed",
        "e": "skipped",
        "f": "failed",
    }
    after: dict[str, CaseResult] = {
        "a": "failed",
        "b": "failed",
        "c": "skipped",
        "new": "failed",
        "also": "skipped",
        "f": "passed",
    }
    assert compare(before, after) == (("a", "new"), ("d",), ("c",))


def test_tests_that_failed_and_pass_now_have_the_way_in_which_they_failed() -> None:
    before = report(a="assertion", b="missing", c="error", d="passed", e="assertion", f="assertion")
    after = report(a="passed", b="passed", c="passed", d="passed", e="assertion", f="skipped")
    assert [(test.id, test.failure) for test in fail_to_pass(before, after)] == [
        ("a", "assertion"),
        ("b", "missing"),
        ("c", "error"),
    ]


def test_an_id_that_was_absent_proves_nothing() -> None:
    assert fail_to_pass(report(a="passed"), report(a="passed", new="passed")) == ()
    assert fail_to_pass(report(gone="assertion"), report(a="passed")) == ()


def test_an_id_that_is_not_stable_is_neither_proof_nor_lost() -> None:
    now = datetime(2026, 11, 18, tzinfo=UTC)
    before = report(**{"test_it[2026-11-18]": "assertion", "test_it[2020-01-01]": "assertion"})
    after = report(**{"test_it[2026-11-18]": "passed", "test_it[2020-01-01]": "passed"})
    assert [test.id for test in fail_to_pass(before, after, now)] == ["test_it[2020-01-01]"]
    assert compare(before.results, {}, now).lost == ("test_it[2020-01-01]",)


def test_a_report_names_the_files_of_its_tests() -> None:
    tests = [ReportedTest("b", "passed", file="b.py"), ReportedTest("a", "passed", file="a.py")]
    assert suite_report("pytest", [*tests, ReportedTest("c", "passed")]).files == ["a.py", "b.py"]


def test_the_tests_of_a_module_that_could_not_be_loaded_have_its_failure() -> None:
    module = ReportedTest("tests.test_new", "failed", "missing", is_module=True)
    before = suite_report("pytest", [module, ReportedTest("tests.test_old::test_a", "passed")])
    after = suite_report(
        "pytest",
        [
            ReportedTest("tests.test_new::test_a", "passed"),
            ReportedTest("tests.test_new.TestIt::test_b", "passed"),
            ReportedTest("tests.test_newer::test_c", "passed"),
            ReportedTest("tests.test_old::test_a", "passed"),
        ],
    )
    proofs = fail_to_pass(before, after)
    assert [(test.id, test.failure) for test in proofs] == [
        ("tests.test_new::test_a", "missing"),
        ("tests.test_new.TestIt::test_b", "missing"),
    ]


def test_of_several_results_of_one_test_the_worst_counts() -> None:
    tests = [
        ReportedTest("a", "passed"),
        ReportedTest("a", "failed", "assertion"),
        ReportedTest("a", "failed", "error"),
        ReportedTest("a", "skipped"),
        ReportedTest("b", "skipped"),
        ReportedTest("b", "passed"),
        ReportedTest(" ", "passed"),
    ]
    assert merged(tests) == {"a": ReportedTest("a", "failed", "error"), "b": ReportedTest("b", "passed")}


def test_a_report_counts_what_ran_and_takes_the_greater_number_of_failures() -> None:
    tests = [ReportedTest("a", "passed"), ReportedTest("b", "failed", "error"), ReportedTest("c", "skipped")]
    counted = suite_report("pytest", tests, failed=3)
    assert (counted.ran, counted.failed) == (2, 3)
    assert counted.results == {"a": "passed", "b": "failed", "c": "skipped"}
    assert suite_report("pytest", tests, lists_passed=False).ran is None


def test_test_that_does_not_run_any_more_is_one_without_a_case_or_a_namesake_left() -> None:
    before: dict[str, CaseResult] = {
        "tests.test_a::test_one": "passed",
        "tests.test_a::test_rows[1]": "passed",
        "tests.test_a::test_rows[2]": "passed",
        "money::tests::adds": "passed",
        "tests.test_a::test_skipped": "passed",
        "tests.test_a::test_never": "skipped",
    }
    after: dict[str, CaseResult] = {
        "tests.test_a::test_rows[1]": "passed",
        "cash::tests::adds": "passed",
        "tests.test_a::test_skipped": "skipped",
    }
    assert not_run(before, after) == ("tests.test_a::test_one", "tests.test_a::test_skipped")
    assert not_run(before, before) == ()
