"""Running a failed check once more: one that passes then is flaky. It counts as passed, and is named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from samuel.checks.verdict import cannot_run
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner

Repeat = Callable[[str], CheckRun | None]
"""Runs a check command once more; None if it is not one of the built-in handler's."""

RunCommand = Callable[[str, Corner, str], CheckRun | None]
"""Runs a command in a corner, or another command line in its place."""


class BuiltInChecks:
    """Runs a command of the last `quality.check` as the built-in handler ran it, on whichever tree is shown.

    The handlers of other people are called once for each event: only they know what a second call would do.
    """

    def __init__(self, *, in_force: bool = True) -> None:
        """`in_force`: whether the built-in handler takes part in `quality.check`, or was replaced."""
        self.in_force = in_force
        self._run: RunCommand | None = None

    def remember(self, run: RunCommand) -> None:
        self._run = run

    def forget(self) -> None:
        """Run nothing until the built-in handler runs again: it may have been replaced."""
        self._run = None

    def __call__(self, command: str, corner: Corner = "own", line: str = "") -> CheckRun | None:
        return self._run(command, corner, line) if self._run else None


RepeatFailed = Callable[[CheckRun], CheckRun | None]
"""Runs the test files alone in which tests of a run failed; None if that cannot be done."""


def repeated(
    runs: Sequence[CheckRun],
    failing: Callable[[Sequence[CheckRun]], Collection[str]],
    repeat: Repeat,
    repeat_failed: RepeatFailed = lambda _: None,
) -> tuple[CheckRun, ...]:
    """The runs, in which a check that passes when it is repeated is flaky.

    `failing` gives the commands whose failure counts; no other is repeated, and neither is one that cannot run or
    that used up its time. Where the same tests fail alone, the others need not run again.
    """
    commands = failing(runs)
    return tuple(
        _repeated(run, failing, repeat)
        if run.command in commands and _is_worth_repeating(run) and not _fails_alone(run, repeat_failed(run))
        else run
        for run in runs
    )


def _fails_alone(run: CheckRun, alone: CheckRun | None) -> bool:
    tests = (alone.tests if alone is not None else None) or {}
    failed = [id for id, result in (run.tests or {}).items() if result == "failed"]
    return bool(failed) and all(tests.get(id) == "failed" for id in failed)


def _is_worth_repeating(run: CheckRun) -> bool:
    return not run.passed and run.exit_code is not None and not cannot_run(run)


def _repeated(run: CheckRun, failing: Callable[[Sequence[CheckRun]], Collection[str]], repeat: Repeat) -> CheckRun:
    again = repeat(run.command)
    if again is None or failing((again,)):
        return run
    return replace(again, flaky=True, output_tail=run.output_tail)
