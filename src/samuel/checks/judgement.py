"""Judging an attempt: what is refused before a check runs, and then the corners."""

from __future__ import annotations

from collections.abc import Sequence

from samuel.checks.attempt_judge import AttemptJudge, AttemptVerdict, Claim
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.files import ProtectedFiles, owned
from samuel.checks.memory import CheckMemory
from samuel.checks.refusal_texts import hidden_text, not_kept_text, protected_text
from samuel.checks.verdict import CheckVerdict
from samuel.evidence.check_directory import RoomFailed
from samuel.git.trees import Trees
from samuel.history.acceptance_tests import AcceptanceTests
from samuel.history.attempts import AttemptChanges
from samuel.tasks.task import Task


class Judgement:
    """Judges one attempt. `trees` is None without a git repository."""

    def __init__(
        self,
        trees: Trees | None,
        memory: CheckMemory,
        commands: Sequence[str],
        protect: ProtectedFiles,
        runs: CornerRuns,
    ) -> None:
        self._trees = trees
        self._memory = memory
        self._commands = commands
        self._protect = protect
        self._runs = runs

    def judge(
        self,
        task: Task,
        attempt: AttemptChanges,
        verified: str,
        claim: Claim | None = None,
        locked: AcceptanceTests | None = None,
    ) -> AttemptVerdict:
        """The verdict; `claim` is None if the task is not claimed. Protected files are put back.

        `locked` are the acceptance tests of the task, of which the attempt has what its worker sees.
        """
        tests = ChangedTests(self._trees, verified, attempt.tree, self._commands)
        if refused := self._refused(task, tests, locked.paths if locked else ()):
            why = protected_text(refused, self._runs.put(refused))
            return AttemptVerdict(CheckVerdict(False, why), tuple(refused))
        if hidden := self._hidden(tests):
            return AttemptVerdict(CheckVerdict(False, hidden_text(hidden)), tuple(hidden))
        if not_kept := self._not_kept(tests.paths):
            problems = self._runs.put(list(not_kept))
            return AttemptVerdict(CheckVerdict(False, not_kept_text(not_kept, problems)), tests.paths)
        try:
            return AttemptJudge(self._runs, task, tests, claim, locked).judge(attempt.tree)
        except RoomFailed as failed:
            return AttemptVerdict(CheckVerdict(False, f"the checks could not run: {failed.message}"), tests.paths)

    def _refused(self, task: Task, tests: ChangedTests, locked: Sequence[str]) -> list[str]:
        changed = [path for path in tests.changed if path not in locked]
        chosen = self._protect.of(changed, tests.is_verified)
        owned_paths = owned(task, chosen)
        return [path for path in chosen if path not in owned_paths]

    def _hidden(self, tests: ChangedTests) -> list[str]:
        """Files of the checks that git ignores and that were not there before the first agent.

        No tree has them, so they could neither be left out nor put back. A clean room does not have them.
        """
        if self._trees is None or not self._commands or self._runs.is_clean:
            return []
        new = [path for path in self._trees.ignored() if path not in self._memory.ignored]
        return [path for path in tests.among(new) if not path.endswith("/")]

    def _not_kept(self, touched: Sequence[str]) -> dict[str, str]:
        """Files of the checks that no tree can have, so that they cannot be judged twice; and why."""
        not_kept = self._trees.not_kept if self._trees is not None else {}
        return {path: not_kept[path] for path in touched if path in not_kept}
