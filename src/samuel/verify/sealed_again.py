"""Running the sealed checks of a receipt again where they are: they are in neither the commit nor the receipt."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.attempt.attempt_checks import run_sealed
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.checks.sealed_judge import SealedRun
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.evidence.room import CleanRoom
from samuel.evidence.sealed import SealedCheck
from samuel.receipts.comparison import differences
from samuel.receipts.recorded import RecordedCorner, RecordedPredicate, RecordedRun
from samuel.receipts.task_receipt import sealed_facts
from samuel.verify.answer import NotVerified

REST = "its other checks say the same"


class SealedAgain:
    """Runs the sealed checks of samuel.toml on the corners of one receipt."""

    def __init__(self, place: Workplace, room: CleanRoom, predicate: RecordedPredicate) -> None:
        self._place = place
        self._room = room
        self._predicate = predicate
        self._checks = {check.name: check for check in place.sealed_checks}
        self.remarks: list[str] = []

    def remark_other_programs(self) -> None:
        """Remark which of the programs are not those of the receipt."""
        here = {fact["name"]: fact["digest"] for fact in sealed_facts(self._place.sealed_checks)}
        self.remarks += (
            f"the program of the sealed check `{safe(program.name)}` is not the one of the receipt"
            for program in self._predicate.sealed
            if program.name in here and here[program.name] != program.digest
        )

    def compared(self, corner: RecordedCorner, tree: str) -> tuple[list[CheckRun], list[str]]:
        """The runs of a corner, and what is different. Raises NotVerified if one cannot run here."""
        as_corner: Corner = "sealed before" if corner.corner == "sealed before" else "sealed"
        runs: list[CheckRun] = []
        different: list[str] = []
        for recorded in corner.runs:
            check = self._checks.get(recorded.command)
            if check is None:
                why = f"samuel.toml names no sealed check `{safe(recorded.command)}` here"
                raise NotVerified("cannot", f"{why}; {REST}")
            try:
                run, changes = self._compared(check, recorded, as_corner, tree)
            except SamuelError as error:  # it is not agreed to, or not here
                raise NotVerified("cannot", f"{error.message}; {REST}") from None
            runs.append(run)
            different += changes
        return runs, different

    def _compared(
        self, check: SealedCheck, recorded: RecordedRun, corner: Corner, tree: str
    ) -> tuple[CheckRun, list[str]]:
        name = f"`{check.name}` ({corner})"
        first = self._run(check, recorded, corner, tree)
        if not (different := differences(recorded, first.run)):
            return first.run, []
        again = self._run(check, recorded, corner, tree)
        if not differences(recorded, again.run):
            self.remarks.append(f"{name} is flaky: {different[0]}; when it was run once more, it did not")
            return again.run, []
        if first.log:
            self.remarks.append(f"the output of {name} is in `{first.log}`")
        return again.run, [f"{name}: {text}" for text in different]

    def _run(self, check: SealedCheck, recorded: RecordedRun, corner: Corner, tree: str) -> SealedRun:
        with self._room.showing(tree):
            return run_sealed(self._place, self._names(recorded.task), check, corner)

    def _names(self, task: str) -> Mapping[str, str]:
        """The variables from which a sealed check knows its task, as in the run."""
        predicate = self._predicate
        return {
            "SAMUEL_TASK_ID": task or (predicate.task.id if predicate.task else ""),
            "SAMUEL_RUN_ID": predicate.run,
            "SAMUEL_STEP": "check",
            "SAMUEL_ITERATION": str(predicate.iteration),
            "SAMUEL_METHODOLOGY": predicate.methodology,
            "SAMUEL_PROJECT_ROOT": str(self._place.root),
        }
