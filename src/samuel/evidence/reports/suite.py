"""The tests of one run of a check, as its reports give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Literal, NamedTuple

CaseResult = Literal["passed", "failed", "skipped"]
FailureKind = Literal["assertion", "missing", "error"]
"""How a test failed: an expectation compared values, something it names does not exist yet, or anything else."""

MAX_TESTS = 200_000
LONGEST_ID = 500  # characters: ids go into histories and messages
_WORST: tuple[CaseResult, ...] = ("failed", "passed", "skipped")
_WORST_KIND: tuple[FailureKind, ...] = ("error", "missing", "assertion")


class ReportedTest(NamedTuple):
    """One test of a report."""

    id: str
    result: CaseResult
    failure: FailureKind | None = None
    """Only of a failed test."""
    is_module: bool = False
    """It stands for a module, package or binary that could not be loaded or built: its tests did not run."""
    file: str = ""
    """The file of the test as the report names it; "" if it names none."""


class SuiteReport(NamedTuple):
    """What one runner says about one run of its tests."""

    runner: str
    """As in the table of runners: `pytest`, `cargo`; "" where the report does not show whose it is."""
    tests: Mapping[str, ReportedTest]
    """By id, in the order of the report."""
    ran: int | None
    """How many tests ran, without skipped ones; None if that is not known."""
    failed: int = 0
    """How many failed by the runner's own count or by the tests above, whichever is more."""
    lists_passed: bool = True
    """False if passed tests are counted and not named, so that an id that is absent says nothing."""
    is_printed: bool = False
    """True if it was read from what the runner printed, and not from a file. Tests can print such lines, too."""

    @property
    def files(self) -> list[str]:
        """The files that the report names as those of its tests, sorted."""
        return sorted({test.file for test in self.tests.values() if test.file})

    @property
    def results(self) -> dict[str, CaseResult]:
        """Each test's result by its id."""
        return {id: test.result for id, test in self.tests.items()}


def suite_report(
    runner: str,
    tests: Iterable[ReportedTest],
    *,
    ran: int | None = None,
    failed: int = 0,
    lists_passed: bool = True,
    is_printed: bool = False,
) -> SuiteReport:
    """The report of these tests. Of several with one id the worst counts; without `ran` they are counted."""
    by_id = merged(tests)
    if ran is None and lists_passed:
        ran = sum(test.result != "skipped" and not test.is_module for test in by_id.values())
    counted = sum(test.result == "failed" for test in by_id.values())
    return SuiteReport(runner, by_id, ran, max(failed, counted), lists_passed, is_printed)


def merged(tests: Iterable[ReportedTest]) -> dict[str, ReportedTest]:
    """Tests by id. Of several results of one test the worst counts, of several failures the one that proves least.

    A test without an id is left out: nothing could be compared with it.
    """
    by_id: dict[str, ReportedTest] = {}
    for test in islice(tests, MAX_TESTS):
        if test.id.strip():
            shortened = test._replace(id=" ".join(test.id.split())[:LONGEST_ID])
            other = by_id.get(shortened.id)
            by_id[shortened.id] = shortened if other is None else _worse(shortened, other)
    return by_id


def combined(reports: Iterable[SuiteReport], *, has_passed: bool = False) -> SuiteReport | None:
    """One report of all that a check's runners wrote and printed; None without any.

    `has_passed`: the check ended with exit code 0. Then failures that are only printed are not its own: tests of
    test runners and of compilers print such lines too.

    What a runner printed counts only where it wrote no file: it would be counted twice. But a file may say less
    about a module that could not be loaded (node's has only `test failed`), so its kind is taken from the output.
    """
    every = [_without_failures(report) if has_passed and report.is_printed else report for report in reports]
    if not every:
        return None
    files = [report for report in every if not report.is_printed]
    with_files = {report.runner for report in files}
    printed = [report for report in every if report.is_printed]
    ids = {id for report in files for id in report.tests}
    chosen = [*files]
    for report in printed:
        # The file of a runner that is not known may be this runner's.
        is_in_files = "" in with_files and ids.issuperset(report.tests)
        if report.runner not in with_files and not is_in_files:
            chosen.append(report)
    kinds = {
        test.id: test.failure
        for report in printed
        for test in report.tests.values()
        if test.is_module and test.failure == "missing"
    }
    tests = [_with_kind(test, kinds) for report in chosen for test in report.tests.values()]
    counts = [report.ran for report in chosen]
    runners = {report.runner for report in chosen}
    return suite_report(
        runners.pop() if len(runners) == 1 else "",
        tests,
        ran=None if None in counts else sum(count or 0 for count in counts),
        failed=sum(report.failed for report in chosen),
        lists_passed=all(report.lists_passed for report in chosen),
        is_printed=not files,
    )


def _without_failures(report: SuiteReport) -> SuiteReport:
    tests = {id: test for id, test in report.tests.items() if test.result != "failed"}
    return report._replace(tests=tests, failed=0)


def _worse(test: ReportedTest, other: ReportedTest) -> ReportedTest:
    if test.result != other.result:
        return min(test, other, key=lambda case: _WORST.index(case.result))
    return min(test, other, key=lambda case: _WORST_KIND.index(case.failure or "error"))


def _with_kind(test: ReportedTest, kinds: Mapping[str, FailureKind | None]) -> ReportedTest:
    if test.is_module and test.failure == "error" and test.id in kinds:
        return test._replace(failure=kinds[test.id])
    return test
