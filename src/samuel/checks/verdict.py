"""What the checks say about an attempt: pure functions over the runs of the check commands.

    baseline   before the first agent; None if it did not run
    before     on the last verified tree
    own        the attempt with all of its own files

A failure that the baseline had as well is accepted: by test where both have a report, else by the whole check.
What a completed task has put right since then is no longer accepted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from samuel.base.decoding import convert
from samuel.base.printable import listed
from samuel.checks.recorded_tests import recorded_tests
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.evidence.reports.comparison import compare, not_run
from samuel.evidence.reports.printed.output import says_that_none_ran
from samuel.evidence.reports.suite import CaseResult
from samuel.history.attempt_record import CheckRecord

MAX_TOLD = 10  # tests or files in a text for the next attempt
# Behind make and `python -m` the exit codes of a missing program are lost.
_NOT_FOUND = re.compile(
    r"^\S*make(?:\[\d+\])?: \*\*\* .*\bError 12[67]$|^\S*python[\d.]*: No module named \S+$", re.MULTILINE
)
# What pytest, unittest and jest print; behind make their exit code is lost.
_NO_TESTS = re.compile(r"\bno tests (?:ran|found|collected)\b|\bcollected 0 items\b", re.IGNORECASE)


CaseResults = Mapping[str, CaseResult]  # by the test's id
WHOLE = 4000  # characters: of a longer output only the end is there


class CheckVerdict(NamedTuple):
    """Whether the checks passed, and what to tell the next attempt if they did not."""

    passed: bool
    why: str = ""
    lost_tests: tuple[str, ...] = ()
    """Tests that ran before and are gone or skipped now, also if everything passed."""
    not_run: tuple[str, ...] = ()
    """The same without parameters that are gone; where tests are only counted, how many less."""
    newly_skipped: tuple[str, ...] = ()
    """Tests that ran before and are skipped now."""
    records: tuple[CheckRecord, ...] = ()
    """All runs."""
    still_red: tuple[str, ...] = ()
    """Tests and commands that failed before the attempt, if it turned none of them green."""


class _CheckFailure(NamedTuple):
    command: str
    why: str


def check_runs(result: Mapping[str, Any]) -> tuple[CheckRun, ...]:
    """The runs in the result of `quality.check`; one with a failed test in its report failed, whatever it says."""
    runs = convert(list(result.get("checks") or ()), tuple[CheckRun, ...])
    return tuple(replace(run, passed=False) if run.passed and _failed(run.tests or {}) else run for run in runs)


def failing_commands(runs: Iterable[CheckRun]) -> tuple[str, ...]:
    """The commands that failed: what the baseline says about a project. One without any test yet is not red."""
    return tuple(run.command for run in runs if not run.passed and not has_no_tests(run))


def cannot_run(run: CheckRun | CheckRecord) -> bool:
    """Whether a check failed because its program is missing or may not be executed: then nothing was checked."""
    return not run.passed and (run.exit_code in (126, 127) or bool(_NOT_FOUND.search(run.output_tail)))


def has_no_tests(run: CheckRun) -> bool:
    """Whether a check failed only because there is no test: pytest and others end with an exit code of its own."""
    return not run.passed and (
        run.tests == {} if run.tests is not None else bool(_NO_TESTS.search(run.output_tail))
    )


def record_of(run: CheckRun, *, corner: Corner = "own", known_failure: bool = False) -> CheckRecord:
    """A run as it is recorded."""
    return CheckRecord(
        command=run.command,
        passed=run.passed,
        exit_code=run.exit_code,
        seconds=run.seconds,
        output_tail=run.output_tail,
        corner=corner,
        known_failure=known_failure,
        tests=recorded_tests(run.tests) if run.tests is not None else None,
        flaky=run.flaky,
    )


def counting_failures(
    runs: Sequence[CheckRun], baseline: Sequence[CheckRun], before: Sequence[CheckRun] | None
) -> set[str]:
    """The commands of these runs whose failure counts: those that the baseline did not have, or not any more."""
    failures, _ = _failures(runs, _by_command(baseline), _by_command(before if before is not None else baseline))
    return {failure.command for failure in failures}


def judge(
    runs: Sequence[CheckRun],
    *,
    baseline: Sequence[CheckRun] | None = None,
    before: Sequence[CheckRun] | None = None,
) -> CheckVerdict:
    """The verdict on runs of all checks.

    `before` are the runs on the last verified tree, with which tests are compared (the baseline if there are none
    later).
    """
    earlier = _by_command(before if before is not None else baseline or ())
    failures, accepted_names = _failures(runs, _by_command(baseline or ()), earlier)
    records = (record_of(run, known_failure=run.command in accepted_names and not run.passed) for run in runs)
    return CheckVerdict(
        not failures,
        _described(failures),
        _lost(runs, earlier),
        tuple(name for run in runs for name in _not_run(run, earlier.get(run.command))),
        tuple(id for run in runs for id in _newly_skipped(run, earlier.get(run.command))),
        tuple(records),
        _still_red(runs, earlier),
    )


def failed_names(runs: Sequence[CheckRun], commands: Collection[str]) -> tuple[str, ...]:
    """What failed in the runs of these commands: tests by their ids, else the commands."""
    failing = [run for run in runs if run.command in commands]
    return tuple(name for run in failing for name in _failed(run.tests or {}) or (run.command,))


def how_failed(run: CheckRun) -> str:
    """How a check failed, in words that follow its name."""
    if run.exit_code is None:
        return "was killed or could not be started"
    if run.exit_code == 0 and (failed := _failed(run.tests or {})):
        return f"ended with exit code 0, but tests of its report failed: {listed(failed, MAX_TOLD)}"
    return f"ended with exit code {run.exit_code}"


def _by_command(runs: Iterable[CheckRun]) -> dict[str, CheckRun]:
    return {run.command: run for run in runs}


def _still_red(runs: Sequence[CheckRun], earlier: Mapping[str, CheckRun]) -> tuple[str, ...]:
    """What failed before these runs; () if one of it passes now, or a check that did not run before does.

    A test that is skipped or gone has not become green.
    """
    red: list[str] = []
    for run in runs:
        before = earlier.get(run.command)
        if before is None:  # a check of the task's own
            if run.passed:
                return ()
        elif not before.passed and not has_no_tests(before):
            failed = _failed(before.tests or {})
            tests = run.tests or {}
            if any(tests.get(id) == "passed" for id in failed) if failed else run.passed:
                return ()
            red += failed or (run.command,)
    return tuple(red)


def _failures(
    runs: Sequence[CheckRun], accepted: Mapping[str, CheckRun], earlier: Mapping[str, CheckRun]
) -> tuple[list[_CheckFailure], dict[str, tuple[str, ...]]]:
    """What failed and counts; and by command what failed before the first agent as well."""
    failures: list[_CheckFailure] = []
    accepted_names: dict[str, tuple[str, ...]] = {}
    for run in runs:
        if run.passed:
            if why := _nothing_ran(run, earlier.get(run.command) or accepted.get(run.command)):
                failures.append(_CheckFailure(run.command, why))
            continue
        names = _known_failures(run, accepted.get(run.command), earlier.get(run.command))
        if names:
            accepted_names[run.command] = names
        else:
            failures.append(_CheckFailure(run.command, _why_failed(run, accepted.get(run.command))))
    return failures, accepted_names


def _nothing_ran(run: CheckRun, before: CheckRun | None) -> str:
    """Why a check that passed does not count: it ran tests before, and none now; "" if it counts."""
    if before is None:
        return ""
    if run.tests is None and before.tests is None and _none_ran(run):
        had_none = has_no_tests(before) or _none_ran(before)
        return "" if had_none else f"`{run.command}` passed, but no test ran"
    if not _ran(before.tests):
        return ""
    if run.tests is None:
        return f"`{run.command}` passed, but no test ran: it wrote a test report before, and none now"
    return "" if _ran(run.tests) else f"`{run.command}` passed, but no test ran"


def _none_ran(run: CheckRun) -> bool:
    return says_that_none_ran(run.output_tail, is_cut=len(run.output_tail) >= WHOLE)


def _ran(tests: CaseResults | None) -> int:
    return sum(result != "skipped" for result in (tests or {}).values())


def _known_failures(run: CheckRun, baseline: CheckRun | None, earlier: CheckRun | None) -> tuple[str, ...]:
    """What of a failed check failed in the baseline as well, and ever since; () if anything else did."""
    befores = [before for before in (baseline, earlier) if before is not None]
    if baseline is None or cannot_run(run) or any(before.passed for before in befores):
        return ()
    if has_no_tests(baseline):
        return (run.command,) if has_no_tests(run) and all(map(has_no_tests, befores)) else ()
    if baseline.tests is None:
        return (run.command,)
    tests = run.tests or {}
    failed = _failed(tests)
    # Without a failed test it failed for another reason than before.
    newly = [
        id for before in befores if before.tests is not None for id in compare(before.tests, tests).newly_failing
    ]
    return failed if failed and not newly else ()


def _failed(tests: CaseResults) -> tuple[str, ...]:
    return tuple(id for id, result in tests.items() if result == "failed")


def _why_failed(run: CheckRun, before: CheckRun | None) -> str:
    new = compare((before.tests if before else None) or {}, run.tests or {}).newly_failing
    text = f"`{run.command}` {how_failed(run)}"
    if before is not None and not before.passed and new:
        text += f"; not failing before: {listed(new, MAX_TOLD)}"
    return f"{text}\n{run.output_tail}".strip()


def _lost(runs: Sequence[CheckRun], earlier: Mapping[str, CheckRun]) -> tuple[str, ...]:
    """Tests that ran before, and that a check which reports tests now does not run."""
    lost: list[str] = []
    for run in runs:
        before = earlier.get(run.command)
        if before is not None and before.tests and run.tests is not None:
            changes = compare(before.tests, run.tests)
            lost += (*changes.lost, *changes.newly_skipped)
    return tuple(dict.fromkeys(lost))


def _not_run(run: CheckRun, before: CheckRun | None) -> tuple[str, ...]:
    """Tests that a check which passed does not run any more."""
    if before is None or not run.passed:
        return ()
    if before.tests and run.tests:
        return not_run(before.tests, run.tests)
    less = before.ran - run.ran if before.ran is not None and run.ran is not None else 0
    return (f"{less} of the {before.ran} tests of `{run.command}`",) if less > 0 else ()


def _newly_skipped(run: CheckRun, before: CheckRun | None) -> tuple[str, ...]:
    return compare(before.tests or {}, run.tests or {}).newly_skipped if before is not None else ()


def _described(failures: Sequence[_CheckFailure]) -> str:
    return "\n\n".join(failure.why for failure in failures)
