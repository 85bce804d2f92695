"""What fails without the work of an attempt and passes with it: by test where both have it, else by command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from samuel.events.loop import CheckRun, FailureKind


class FailToPass(NamedTuple):
    """A test, or a check command whose tests are not known."""

    name: str
    kind: FailureKind
    """Why it failed without the work."""


def fail_to_pass(own: Iterable[CheckRun], without: Iterable[CheckRun]) -> tuple[FailToPass, ...]:
    """What fails in the runs `without` the work, and passes in `own`.

    A test that one of the runs does not have is no evidence: its id may have a time or an address in it.
    """
    passed = {run.command: run for run in own if run.passed}
    return tuple(
        proof for run in without if run.command in passed for proof in _of_command(passed[run.command], run)
    )


def _of_command(own: CheckRun, without: CheckRun) -> Iterator[FailToPass]:
    if without.passed or without.exit_code is None or without.flaky or own.flaky:
        return
    kinds = without.kinds or {}
    failed = [id for id, result in (without.tests or {}).items() if result == "failed"]
    if failed and own.tests:
        tests = own.tests
        found = [FailToPass(id, kinds.get(id, "error")) for id in failed if tests.get(id) == "passed"]
        if found:
            yield from found
            return
    # A module that cannot even be loaded fails as a whole, and its tests have no ids then.
    yield FailToPass(without.command, _kind_of_all(failed, without))


def _kind_of_all(failed: Sequence[str], run: CheckRun) -> FailureKind:
    kinds = {(run.kinds or {}).get(id, "error") for id in failed} if failed else {run.failure_kind}
    return "assertion" if kinds == {"assertion"} else "missing" if kinds <= {"assertion", "missing"} else "error"
