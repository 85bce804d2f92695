"""What sealed checks say about a claim: one that fails on the attempt refuses it.

One that failed on the verified tree, and passes on the attempt, proves it: the agent could not write it to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from msgspec.structs import replace

from samuel.checks.verdict import record_of
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.evidence.sealed import SealedCheck
from samuel.history.attempt_record import CheckRecord

YES = "yes"
NO_SANDBOX = "no (the agent works without a sandbox, and can read them)"
IN_PLACE = "no (they run where the agent works)"


class SealedRun(NamedTuple):
    run: CheckRun
    """Without any output; its command is the name of the check."""
    how: str = ""
    """How it failed, in words that follow its name; "" if it passed."""
    message: str = ""
    """What its author lets the agent know."""
    log: str = ""
    """The file with its output, which a person can read; "" for none."""

    @property
    def why(self) -> str:
        """What an agent gets to read about a failure."""
        text = f"the sealed check `{self.run.command}` {self.how}"
        return f"{text}: {self.message}" if self.message else text


RunSealed = Callable[[SealedCheck, Corner], SealedRun]
"""Runs a sealed check on the tree that is shown."""


class SealedVerdict(NamedTuple):
    """What sealed checks said about a claim."""

    why: str = ""
    """Why the claim is refused; "" if all of them pass."""
    red_before: tuple[str, ...] = ()
    """Those that failed on the verified tree, and pass with the work."""
    green_before: tuple[str, ...] = ()
    """Those that passed there as well: they prove nothing."""
    records: tuple[CheckRecord, ...] = ()


class SealedJudge:
    """Judges claims by sealed checks; `sealed` is YES if no agent could read them, else why not."""

    def __init__(
        self,
        checks: Sequence[SealedCheck] = (),
        run: RunSealed | None = None,
        sealed: str = "",
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._checks = checks if run is not None else ()
        self._run = run
        self._warn = warn
        self.sealed = sealed if self._checks else ""

    def verdict(
        self, showing: Callable[[str], AbstractContextManager[None]], tree: str, verified: str
    ) -> SealedVerdict:
        """The verdict on the attempt with this tree. Without `verified` nothing runs on the verified tree."""
        if not self._checks:
            return SealedVerdict()
        with showing(tree):
            runs = {check: self._checked(check) for check in self._checks}
        records = tuple(record_of(run.run, corner="sealed") for run in runs.values())
        if failures := [run for run in runs.values() if not run.run.passed]:
            for run in failures:
                self._tell_person(run)
            return SealedVerdict("\n".join(run.why for run in failures), records=records)
        stable = [check for check, run in runs.items() if not run.run.flaky]
        if not verified or not stable:
            return SealedVerdict(records=records)
        with showing(verified):
            before = [self._once(check, "sealed before").run for check in stable]
        red = [run for run in before if not run.passed and run.exit_code not in (None, 126, 127)]
        return SealedVerdict(
            red_before=tuple(f"{run.command} (sealed)" for run in red),
            green_before=tuple(f"{run.command} (sealed)" for run in before if run.passed),
            records=(*records, *(record_of(run, corner="sealed before") for run in before)),
        )

    def _checked(self, check: SealedCheck) -> SealedRun:
        """The run on the attempt; one that fails is run once more before the attempt is refused."""
        first = self._once(check, "sealed")
        if first.run.passed or first.run.exit_code is None:  # a time limit would only be used up again
            return first
        again = self._once(check, "sealed")
        return again._replace(run=replace(again.run, flaky=True)) if again.run.passed else first

    def _tell_person(self, run: SealedRun) -> None:
        if run.log:
            name = run.run.command
            self._warn(f"the sealed check `{name}` {run.how}; its output is in `{run.log}`, not in the report")

    def _once(self, check: SealedCheck, corner: Corner) -> SealedRun:
        assert self._run is not None
        return self._run(check, corner)


def sealed_word(sandbox: str, *, is_clean: bool) -> str:
    """Whether sealed checks were hidden from an agent in this kind of sandbox, or why not."""
    if sandbox == "host":
        return NO_SANDBOX
    return YES if is_clean else IN_PLACE
