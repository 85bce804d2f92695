"""What comes of the turn of an agent that writes acceptance tests: they are locked, or asked for once more."""

from __future__ import annotations

from samuel.attempt.acceptance.task_acceptance import TaskAcceptance, author_record
from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.settlements import Settlements
from samuel.attempt.stop import IterationEnded
from samuel.checks.acceptance_rules import WrittenTests
from samuel.events.endings import IterationOutcome
from samuel.history.run import Run, Settlement


class AuthorTurn:
    def __init__(
        self, acceptance: TaskAcceptance, run: Run, facts: AttemptFacts, settlements: Settlements
    ) -> None:
        self._acceptance = acceptance
        self._run = run
        self._facts = facts
        self._settlements = settlements

    def judged(self, written_tests: WrittenTests) -> Settlement:
        """The settlement after its agent ended and the checks ran on what it wrote."""
        self._facts.checks = list(written_tests.records)
        return self._settled(written_tests, IterationOutcome.INCOMPLETE)

    def failed(self, ended: IterationEnded) -> Settlement:
        """The settlement of a turn that could not go on: it counts as one of the tries."""
        return self._settled(WrittenTests(ended.why), ended.outcome)

    def _settled(self, written_tests: WrittenTests, outcome: IterationOutcome) -> Settlement:
        tests = self._acceptance.outcome(self._run.agent, written_tests)
        self._facts.acceptance = author_record(tests)
        self._facts.log = self._acceptance.hide_log(self._facts.log)
        return self._settlements.wrote_tests(tests, outcome)
