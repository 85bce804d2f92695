"""Running the checks on the trees of one attempt, corner by corner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from samuel.base.printable import file_name
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.checked_work import CheckedWork, checked
from samuel.checks.memory import CheckMemory
from samuel.checks.planting import Planting
from samuel.checks.put_back import PutBack
from samuel.checks.repeat import repeated
from samuel.checks.sealed_judge import SealedJudge
from samuel.checks.verdict import CheckVerdict, counting_failures, how_failed, judge, record_of
from samuel.dispatch.record import Fired
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import CheckRoom
from samuel.evidence.corner import EXPECTED_RED, MUST_FAIL, Corner
from samuel.history.attempt_record import CheckRecord
from samuel.history.notices import CheckFilesChanged, LoopWarning, Watch, ignore_reports

COMPARED: tuple[Corner, ...] = ("old tests", "old source")
"""The corners with which an attempt is compared. If it is claimed again as it was, these are known."""


class CheckRunner(Protocol):
    """Runs the checks on the tree that is shown."""

    def all(self) -> Fired:
        """Fire `quality.check`."""

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun | None:
        """Run one command as the built-in handler does, or `line` in its place; None if that takes no part."""


class CornerRuns:
    """Runs checks for one judgement. `put_back` and `room` are None without a git repository."""

    def __init__(
        self,
        put_back: PutBack | None,
        room: CheckRoom | None,
        memory: CheckMemory,
        checks: CheckRunner,
        watch: Watch = ignore_reports,
        *,
        sealed: SealedJudge | None = None,
        canary: str = "",
    ) -> None:
        self._put_back = put_back
        self._room = room
        self._memory = memory
        self._checks = checks
        self._watch = watch
        self.sealed = sealed or SealedJudge()
        self._canary = canary
        self.trees: dict[str, str] = {}
        """The tree of each corner that ran."""
        self.green_before: tuple[str, ...] = ()
        """Checks of the task that pass without the work, which was said before its agent started."""

    def put(self, paths: Sequence[str]) -> list[str]:
        """Put these files back for good; gives why one could not be put."""
        return self._put_back.verified(paths) if self._put_back is not None else []

    def put_persons(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Put those of these files back that a person had changed; gives them."""
        return self._put_back.persons(paths) if self._put_back is not None else ()

    def failing(self, runs: Sequence[CheckRun]) -> set[str]:
        """The commands of these runs whose failure counts."""
        return counting_failures(runs, self._memory.baseline, self._memory.verified)

    def showing(self, tree: str) -> AbstractContextManager[None]:
        return self._room.showing(tree) if self._room is not None else nullcontext()

    def own(self, tree: str, *, repeat: bool = True) -> tuple[CheckedWork, dict[str, bytes | None]]:
        """The checks on the attempt as it is, with all handlers; and the files that they changed.

        `repeat`: one whose failure counts is run once more.
        """
        self.trees["own"] = tree
        with self.showing(tree):
            work = checked(self._checks.all())
            runs = work.runs
            if repeat:
                runs = repeated(runs, self.failing, lambda command: self._checks.command(command, "own"))
            changed = self._room.changed() if self._room is not None else {}
        return work._replace(runs=runs), changed

    def old_source(self, tree: str, lines: Mapping[str, str]) -> tuple[CheckRun, ...]:
        """The commands on the old source with the new tests, each as the line that is given for it, or whole.

        A failure is expected there, so none is repeated. A line that fails without a failed test says nothing.
        """
        self.trees["old source"] = tree

        def run(command: str) -> CheckRun | None:
            line = lines[command]
            run = self._checks.command(command, "old source", line)
            if run is not None and line and says_nothing(run):
                run = self._checks.command(command, "old source")
            return run

        return self._compared("old source", tree, lines, lambda commands: [*map(run, commands)])

    def corner(
        self, corner: Corner, tree: str, commands: Sequence[str], part: Callable[[CheckRun], str] = lambda _: ""
    ) -> tuple[CheckRun, ...]:
        """The commands on another tree; one whose failure counts is run once more before it is believed.

        `part` gives the line for the tests alone that failed in a run, if there is one.
        """
        self.trees[corner] = tree
        again: Corner = "old tests again" if corner == "old tests" else corner

        def run(commands: Sequence[str]) -> Sequence[CheckRun | None]:
            runs = tuple(run for command in commands if (run := self._checks.command(command, corner)) is not None)
            if corner in EXPECTED_RED:  # a failure is expected there, and proves nothing if it is an accident
                return runs
            return repeated(runs, self.failing, lambda command: self._checks.command(command, again), alone)

        def alone(run: CheckRun) -> CheckRun | None:
            line = part(run)
            return self._checks.command(run.command, again, line) if line else None

        return self._compared(corner, tree, dict.fromkeys(commands, ""), run)

    def _compared(
        self,
        corner: Corner,
        tree: str,
        lines: Mapping[str, str],
        run: Callable[[Sequence[str]], Sequence[CheckRun | None]],
    ) -> tuple[CheckRun, ...]:
        """The runs of commands on a tree; those are not repeated that an earlier attempt had there as well."""
        is_kept = self.is_clean and corner in COMPARED  # elsewhere a tree is not all that decides
        runs = {
            command: earlier
            for command, line in lines.items()
            if is_kept and (earlier := self._memory.earlier_run((corner, tree, command, line))) is not None
        }
        left = [command for command in lines if command not in runs]
        if left:
            with self.showing(tree):
                new = [each for each in run(left) if each is not None]
            for each in new if is_kept else ():
                self._memory.keep_run((corner, tree, each.command, lines[each.command]), each)
            runs |= {each.command: each for each in new}
        return tuple(runs[command] for command in lines if command in runs)

    def again(self, corner: Corner, tree: str, lines: Mapping[str, str]) -> dict[str, CheckRun]:
        """Commands on a tree once more, each as the line for its changed tests alone, if there is one.

        What fails alone may need the others: unless it must fail, it is run whole.
        """
        runs: dict[str, CheckRun] = {}
        with self.showing(tree):
            for command, line in lines.items():
                run = self._checks.command(command, corner, line) if line else None
                if run is None or not (run.passed or corner in MUST_FAIL):
                    run = self._checks.command(command, corner)
                if run is not None:
                    runs[command] = run
        return runs

    @property
    def is_clean(self) -> bool:
        """Whether the checks run in a clean room, not where the agent works."""
        return self._room is not None and self._room.is_clean

    def planting(self, tests: ChangedTests, records: list[CheckRecord]) -> Planting:
        """Plants failing tests into this attempt; each run is added to the records."""

        def run(tree: str, command: str, line: str, canary: str) -> CheckRun | str | None:
            with self.showing(tree):
                canary_run = self._checks.command(command, "canary", canary) if canary else None
                if canary_run is not None and not canary_run.passed:
                    return f"the canary `{canary}` {how_failed(canary_run)}"
                planted = self._checks.command(command, "planted", line)
            if planted is not None:
                records.append(record_of(planted, corner="planted"))
            return planted

        return Planting(tests, run, self.before, self._canary)

    @property
    def before(self) -> tuple[CheckRun, ...]:
        """The runs on the verified tree."""
        return self._memory.verified or self._memory.baseline

    def verdict(self, runs: Sequence[CheckRun]) -> CheckVerdict:
        return judge(runs, baseline=self._memory.baseline, before=self._memory.verified)

    @property
    def place(self) -> str:
        """Where the checks run, in words."""
        return "clean room" if self.is_clean else "in place"

    def warn(self, text: str) -> None:
        self._watch(LoopWarning(text))

    def report(self, paths: Sequence[str]) -> None:
        self._watch(CheckFilesChanged(tuple(map(file_name, paths))))


def says_nothing(run: CheckRun) -> bool:
    """Whether a run of a few test files may have run none of them."""
    return not run.ran if run.passed else not run.kinds and run.failure_kind != "missing"
