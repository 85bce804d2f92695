"""Running the checks of a receipt again, each on the tree of its corner, in a clean room."""

from __future__ import annotations

from collections.abc import Sequence

from samuel.attempt.defaults.quality_check import RunCommands
from samuel.attempt.workplace import Workplace
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import says_nothing
from samuel.checks.planting import Planting, ShownToFail
from samuel.checks.verdict import cannot_run, how_failed
from samuel.events import QualityCheck
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.evidence.room import CleanRoom
from samuel.receipts.comparison import differences
from samuel.receipts.recorded import RecordedRun
from samuel.verify.answer import NotVerified
from samuel.verify.corner_trees import run_as


class ChecksAgain:
    """Runs check commands in a clean room."""

    def __init__(self, place: Workplace, room: CleanRoom) -> None:
        self._checks = RunCommands(place)
        self._place = place
        self._room = room
        self.remarks: list[str] = []

    def compared(
        self, corner: str, tree: str, recorded: RecordedRun, task: str, line: str = ""
    ) -> tuple[CheckRun, list[str]]:
        """The run of a recorded check on a tree, and what is different; one that differs is run once more.

        `line` is the command for the changed tests alone, where that was enough. Raises NotVerified if the check
        cannot run here.
        """
        name = f"`{recorded.command}` ({corner})"
        run = self._run(tree, recorded.command, run_as(corner), task, line)
        if not (different := differences(recorded, run)):
            return run, []
        if cannot_run(run) and recorded.exit_code != run.exit_code:
            raise NotVerified("cannot", f"{name} cannot run here: its program is missing or may not be executed")
        again = self._run(tree, recorded.command, run_as(corner), task, line)
        if not differences(recorded, again):
            self.remarks.append(f"{name} is flaky: {different[0]}; when it was run once more, it did not")
            return again, []
        return again, [f"{name}: {text}" for text in different]

    def run(self, tree: str, command: str, task: str) -> CheckRun:
        """The run of a check that the receipt does not have."""
        return self._run(tree, command, "own", task, "")

    def shown_to_fail(self, tests: ChangedTests, own: Sequence[CheckRun], task: str) -> ShownToFail:
        """Whether the checks fail with a planted failing test."""

        def planted(tree: str, command: str, line: str, canary: str) -> CheckRun | str:
            with self._room.showing(tree):
                if canary and not (canary_run := self._command(command, "canary", task, canary)).passed:
                    return f"the canary `{canary}` {how_failed(canary_run)}"
                return self._command(command, "planted", task, line)

        return Planting(tests, planted, (), self._place.settings.canary).shown_to_fail(own)

    def _run(self, tree: str, command: str, corner: Corner, task: str, line: str) -> CheckRun:
        with self._room.showing(tree):
            run = self._command(command, corner, task, line)
            return self._command(command, corner, task) if line and says_nothing(run) else run  # as in the run

    def _command(self, command: str, corner: Corner, task: str, line: str = "") -> CheckRun:
        event = QualityCheck(
            commands=[command],
            task={"id": task},
            project_root=str(self._place.root),
            deadline_ms=int(self._place.check_seconds * 1000),
        )
        run = self._checks.again(event, command, corner, line)
        assert run is not None  # it is a command of the event
        return run
