"""Whether an attempt passes the acceptance tests of its task, with their locked content.

What the worker did to tests and to the settings of checks is not in this corner, so that it cannot keep a locked
test from running.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from samuel.base.printable import listed
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.verdict import failed_names, record_of
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.evidence.fail_to_pass import fail_to_pass
from samuel.history.acceptance_tests import AcceptanceTests
from samuel.history.attempt_record import CheckRecord

MOST_NAMED = 10
HIDDEN = "acceptance tests of the task fail, some of which you cannot see: "
FAILED = "acceptance tests of the task fail: "
DID_NOT_RUN = "acceptance tests of the task do not run with this work: "


class AcceptanceVerdict(NamedTuple):
    why: str = ""
    """Why the work does not pass the acceptance tests; "" if it does."""
    proofs: tuple[str, ...] = ()
    """Those that failed before the work and pass with it."""
    records: tuple[CheckRecord, ...] = ()


class AcceptanceCorner:
    """The judgement of one attempt by locked tests; `not_owned` are changed tests that its task does not own."""

    def __init__(
        self, locked: AcceptanceTests, tests: ChangedTests, not_owned: Sequence[str], runs: CornerRuns
    ) -> None:
        self._locked = locked
        self._tests = tests
        self._not_owned = [path for path in not_owned if path not in locked.paths]
        self._runs = runs

    def judge(self, own: Sequence[CheckRun]) -> AcceptanceVerdict:
        """The verdict; `own` are the runs on the attempt as it is, which passed."""
        commands = [run.command for run in self._locked.red if run.command in {each.command for each in own}]
        if not commands:  # the project has other checks by now
            return AcceptanceVerdict()
        tree = self._tests.with_acceptance(self._not_owned, self._locked.contents)
        records: list[CheckRecord] = []
        runs: Sequence[CheckRun] = [run for run in own if run.command in commands]
        if tree != self._tests.own:
            runs = self._runs.corner("acceptance", tree, commands)
            records += (self._record(run, "acceptance") for run in runs)
        verdict = self._runs.verdict(runs)
        if not verdict.passed:
            named = listed(failed_names(runs, self._runs.failing(runs)), MOST_NAMED)
            why = f"{HIDDEN}{named}" if self._locked.hidden else f"{FAILED}{named}\n{verdict.why}"
            return AcceptanceVerdict(why, records=tuple(records))
        if missing := _not_run(self._locked.red, runs):
            return AcceptanceVerdict(f"{DID_NOT_RUN}{listed(missing, MOST_NAMED)}", records=tuple(records))
        red, more = self._red(commands)
        proofs = tuple(dict.fromkeys(proof.name for proof in fail_to_pass(runs, red)))
        return AcceptanceVerdict("", proofs, (*records, *more))

    def _red(self, commands: Sequence[str]) -> tuple[tuple[CheckRun, ...], tuple[CheckRecord, ...]]:
        """How the locked tests fail on the verified tree. It may be another one than when they were written."""
        if self._locked.verified == self._tests.verified:
            return self._locked.red, self._locked.before
        tree = self._tests.verified_with({file.path: file.content for file in self._locked.files})
        runs = self._runs.corner("acceptance before", tree, commands)
        records = tuple(self._record(run, "acceptance before") for run in runs)
        return tuple(_of_these(run, self._locked.names) for run in runs if not run.passed), records

    def _record(self, run: CheckRun, corner: Corner) -> CheckRecord:
        """The record of a run; the output may show hidden tests, which the next attempt must not read."""
        record = record_of(run, corner=corner)
        return replace(record, output_tail="") if self._locked.hidden else record


def _not_run(red: Iterable[CheckRun], runs: Iterable[CheckRun]) -> list[str]:
    """The locked tests that did not pass, where the runs list tests; a module did if one of its tests did."""
    by_command = {run.command: run.tests for run in runs}
    missing: list[str] = []
    for run in red:
        tests = by_command.get(run.command)
        if not tests or not run.kinds:
            continue
        passed = [id for id, result in tests.items() if result == "passed"]
        missing += (
            id
            for id in run.kinds
            if tests.get(id) != "passed" and not any(name.startswith((f"{id}::", f"{id}.")) for name in passed)
        )
    return missing


def _of_these(run: CheckRun, names: Sequence[str]) -> CheckRun:
    kinds = {id: kind for id, kind in (run.kinds or {}).items() if id in names}
    return replace(run, tests=None, kinds=kinds or None)
