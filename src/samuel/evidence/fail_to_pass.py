"""What fails without the work of an attempt and passes with it: by test where that is known, else by command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from samuel.events.loop import CheckRun, FailureKind
from samuel.evidence.reports import comparison
from samuel.evidence.reports.ids import is_stable
from samuel.evidence.reports.suite import ReportedTest, SuiteReport


class FailToPass(NamedTuple):
    """A test, or a check command whose tests are not known."""

    name: str
    kind: FailureKind
    """Why it failed without the work."""
    command: str = ""
    """The check that ran it."""
    is_test: bool = False
    """Whether it is one test, which was started without the work as well."""

    @property
    def by_behaviour(self) -> bool:
        """Whether the old source did something else: an assertion failed, or the test ended with an exception."""
        return self.kind == "assertion" or (self.kind == "error" and self.is_test)


def fail_to_pass(own: Iterable[CheckRun], without: Iterable[CheckRun]) -> tuple[FailToPass, ...]:
    """What fails in the runs `without` the work, and passes in `own`."""
    passed = {run.command: run for run in own if run.passed and not run.flaky}
    failed = [run for run in without if run.command in passed and not run.passed and run.exit_code is not None]
    return tuple(proof for run in failed for proof in _of_command(passed[run.command], run))


def _of_command(own: CheckRun, without: CheckRun) -> Iterator[FailToPass]:
    kinds = without.kinds or {}
    if own.tests:
        tests = comparison.fail_to_pass(_report(without, own), _report(own, own))
        yield from (
            FailToPass(test.id, test.failure or "error", own.command, not test.is_module) for test in tests
        )
        if tests:
            return
    elif names := [id for id in kinds if is_stable(id)]:  # all tests passed in `own`, which has no list of them
        # What lacks a name was not built: it is a program rather than one test.
        yield from (FailToPass(id, kinds[id], own.command, kinds[id] != "missing") for id in names)
        return
    kind = without.failure_kind if not kinds else _least(kinds.values())
    # The tests that failed are known, and none of them passes with the work: no assertion is shown.
    is_elsewhere = bool(own.tests and without.tests) and kind == "assertion"
    yield FailToPass(without.command, "error" if is_elsewhere else kind, own.command)


def passes_again(proof: FailToPass, run: CheckRun | None) -> bool:
    """Whether what passed with the work passes with it in another run; None: no other run was possible."""
    if run is None or run.passed:
        return True
    return proof.name != run.command and (run.tests or {}).get(proof.name) == "passed"


def fails_again(proof: FailToPass, run: CheckRun | None) -> bool:
    """Whether what failed without the work fails without it in another run; None: no other run was possible."""
    return run is None or (not run.passed and (run.tests or {}).get(proof.name) != "passed")


def _report(run: CheckRun, own: CheckRun) -> SuiteReport:
    """The tests of a run. An id that the attempt's own run does not have may be a module that cannot be loaded."""
    ids_of_own, kinds = own.tests or {}, run.kinds or {}
    results = {**dict.fromkeys(kinds, "failed"), **(run.tests or {})}
    tests = {
        id: ReportedTest(id, result, kinds.get(id), is_module=id not in ids_of_own)  # type: ignore[arg-type]
        for id, result in results.items()
    }
    return SuiteReport("", tests, None)


def _least(kinds: Iterable[FailureKind]) -> FailureKind:
    """The kind that proves the least."""
    every = set(kinds)
    return "error" if "error" in every else "missing" if "missing" in every else "assertion"
