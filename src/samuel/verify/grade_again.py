"""Whether the grade of a receipt follows from its corners, which ran again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samuel.base.printable import listed
from samuel.checks.changed_tests import ChangedTests
from samuel.events.loop import CheckRun
from samuel.evidence.claim import ClaimFacts, judge_claim
from samuel.evidence.fail_to_pass import FailToPass, fail_to_pass
from samuel.receipts.recorded import RecordedEvidence, RecordedPredicate, RecordedTask
from samuel.tasks.grade import PROVEN
from samuel.verify.answer import NotVerified

MOST_NAMED = 5
CANNOT_RUN = (None, 126, 127)


class GradeAgain:
    """The grade of one receipt of a task; `runs` are those of each corner."""

    def __init__(
        self, predicate: RecordedPredicate, tests: ChangedTests, runs: Mapping[str, Sequence[CheckRun]]
    ) -> None:
        assert predicate.task is not None
        assert predicate.evidence is not None
        self._task: RecordedTask = predicate.task
        self._evidence: RecordedEvidence = predicate.evidence
        self._grade = predicate.grade
        self._tests = tests
        self._runs = runs

    def refuse_another(self) -> None:
        """Raise NotVerified if tests do not prove what they did, or the grade does not follow."""
        own = self._runs.get("own", [])
        proofs = fail_to_pass(own, self._runs.get("old source", []))
        acceptance = fail_to_pass(self._runs.get("acceptance") or own, self._runs.get("acceptance before", []))
        names = {proof.name for proof in (*proofs, *acceptance)}
        if missing := sorted({*self._evidence.fail_to_pass} - names):
            raise NotVerified(
                "different", f"do not fail without the work, or do not pass with it: {listed(missing, MOST_NAMED)}"
            )
        if self._grade not in PROVEN:
            return
        named = [proof.name for proof in acceptance if proof.name in self._evidence.fail_to_pass]
        grade = self._graded(own, proofs, named)
        if grade not in PROVEN[: PROVEN.index(self._grade) + 1]:
            raise NotVerified("different", f"the grade is `{self._grade}`, and here `{grade}`")

    def _graded(self, own: Sequence[CheckRun], proofs: Sequence[FailToPass], acceptance: Sequence[str]) -> str:
        change = self._tests.change()
        facts = ClaimFacts(
            kind=self._task.kind,
            has_checks=bool(own or self._runs.get("sealed")),
            change=change,
            has_tests=bool(self._tests.paths),
            proofs=proofs if change == "code" else (),
            own_checks=[*self._own_checks(own), *self._sealed_checks()],
            acceptance=acceptance,
        )
        return judge_claim(facts, "ask", sent_back=True).grade

    def _own_checks(self, own: Sequence[CheckRun]) -> list[str]:
        """The checks that came with the task, failed before the work and pass with it."""
        passed = {run.command for run in own if run.passed}
        red = [run.command for run in self._runs.get("before", []) if not run.passed]
        return [command for command in red if command in passed and command in self._task.checks]

    def _sealed_checks(self) -> list[str]:
        passed = {run.command for run in self._runs.get("sealed", []) if run.passed and not run.flaky}
        before = self._runs.get("sealed before", [])
        red = [run.command for run in before if not run.passed and run.exit_code not in CANNOT_RUN]
        return [command for command in red if command in passed]
