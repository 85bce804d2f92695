"""Judging an attempt by the checks.

An attempt that changed files which the checks run or read is judged twice: with these files as they are in the
verified tree, and with its own. So a check that the attempt weakened does not pass for work that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from samuel.dispatch.record import Fired, HandlerCall
from samuel.dispatch.stated_reason import stated_reason
from samuel.events.loop import CheckRun
from samuel.hooks.handler import Origin, Outcome
from samuel.loop.attempts import AttemptChanges
from samuel.loop.checks.files import CheckFiles, ProtectedFiles, owned
from samuel.loop.checks.memory import CheckMemory
from samuel.loop.checks.repeat import Repeat, never_repeat, repeated
from samuel.loop.checks.softened_tests import softened_tests
from samuel.loop.checks.verdict import CheckVerdict, check_runs, counting_failures, judge
from samuel.loop.reports import CheckFilesChanged, Watch, ignore_reports
from samuel.printable import file_name
from samuel.process.git.trees import Trees
from samuel.tasks.task import Task

BUILT_IN = "default"  # the source of failures that the commands themselves report
PROTECTED = "files that samuel.toml protects were changed, and put back: "
MAX_NAMED = 10
MAX_TEXT = 1 << 20  # bytes of a file that is compared


class CheckedWork(NamedTuple):
    """What one run of all checks said."""

    runs: tuple[CheckRun, ...]
    other_failures: str
    """What handlers other than the built-in one found wrong, or why the check could not run; "" for nothing."""


class AttemptVerdict(NamedTuple):
    checks: CheckVerdict
    check_files: tuple[str, ...] = ()
    """Files of the checks that the attempt changed."""
    own_runs: tuple[CheckRun, ...] = ()


class Judgement:
    """Judges one attempt. `check` runs all checks on the work tree as it is, `repeat` one of them once more."""

    def __init__(
        self,
        trees: Trees | None,
        memory: CheckMemory,
        commands: Sequence[str],
        protect: ProtectedFiles,
        check: Callable[[], Fired],
        watch: Watch = ignore_reports,
        repeat: Repeat = never_repeat,
    ) -> None:
        self._trees = trees
        self._memory = memory
        self._commands = commands
        self._protect = protect
        self._check = check
        self._watch = watch
        self._repeat = repeat

    def judge(self, task: Task, attempt: AttemptChanges, verified: str) -> AttemptVerdict:
        """The verdict. Files that were weakened or that are protected are put back from the verified tree."""
        # Also those that a person had changed before the run: an agent must not weaken uncommitted checks either.
        paths = [*(change.path for change in attempt.changes), *attempt.person]
        files = _FilesOfTrees(self._trees, verified, attempt.tree)
        if refused := self._refused(task, paths, files):
            self._put(verified, refused)
            return AttemptVerdict(CheckVerdict(False, _protected_text(refused)), tuple(refused))
        if hidden := self._hidden(files):
            return AttemptVerdict(CheckVerdict(False, _hidden_text(hidden)), tuple(hidden))
        touched = files.touched(self._commands, paths)
        owned_files = owned(task, touched)
        not_owned = [path for path in touched if path not in owned_files]
        with_verified = self._check_with(verified, attempt.tree, not_owned)
        own = checked(self._check())
        own_runs = repeated(own.runs, self._failing, self._repeat)
        if with_verified and not self._failing(own_runs):  # else it failed, whatever it changed
            with_verified = self._repeat_with(verified, attempt.tree, not_owned, with_verified)
        verdict = judge(
            own_runs,
            baseline=self._memory.baseline,
            verified=with_verified,
            check_files=touched,
            owned_files=owned_files,
            softened_tests=[line for path in touched for line in files.softened(path)],
            before=self._memory.verified,
        )
        self._put(verified, verdict.softened)
        if own.other_failures:
            why = "\n\n".join(text for text in (verdict.why, own.other_failures) if text)
            verdict = verdict._replace(passed=False, why=why)
        return AttemptVerdict(verdict, touched, own_runs)

    def _failing(self, runs: Sequence[CheckRun]) -> set[str]:
        return counting_failures(runs, self._memory.baseline, self._memory.verified)

    def _refused(self, task: Task, paths: Sequence[str], files: _FilesOfTrees) -> list[str]:
        chosen = self._protect.of(paths, files.is_verified)
        owned_paths = owned(task, chosen)
        return [path for path in chosen if path not in owned_paths]

    def _hidden(self, files: _FilesOfTrees) -> list[str]:
        """Files of the checks that git ignores and that were not there before the first agent.

        No tree has them, so they could neither be left out nor put back.
        """
        if self._trees is None or not self._commands:
            return []
        new = [path for path in self._trees.ignored() if path not in self._memory.ignored]
        return [path for path in files.touched(self._commands, new) if not path.endswith("/")]

    def _check_with(self, verified: str, own: str, paths: Sequence[str]) -> tuple[CheckRun, ...] | None:
        """The checks with these files as in the verified tree; None if there are none."""
        if not paths:
            return None
        self._watch(CheckFilesChanged(tuple(map(file_name, paths))))
        self._put(verified, paths)
        try:
            return checked(self._check()).runs
        finally:
            self._put(own, paths)

    def _repeat_with(
        self, verified: str, own: str, paths: Sequence[str], runs: tuple[CheckRun, ...]
    ) -> tuple[CheckRun, ...]:
        """The runs with these files as in the verified tree, after those that failed were repeated."""
        if not self._failing(runs):
            return runs
        self._put(verified, paths)
        try:
            return repeated(runs, self._failing, self._repeat)
        finally:
            self._put(own, paths)

    def _put(self, tree: str, paths: Sequence[str]) -> None:
        if self._trees is not None and paths:
            self._trees.put(tree, paths)


def checked(fired: Fired) -> CheckedWork:
    """The result of `quality.check`: the commands that ran, and what else is wrong."""
    runs = check_runs(fired.result)
    if fired.ok:
        return CheckedWork(runs, "")
    ran = {run.command for run in runs}
    failures = [failure for failure in fired.result.get("failures") or () if not _is_of_a_run(failure, ran)]
    described = _described(failures)
    texts = [*([described] if described else ()), *_reasons(fired.calls, described)]
    if texts or not runs or all(run.passed for run in runs):
        return CheckedWork(runs, "\n\n".join(texts) or fired.reason or "a check failed")
    return CheckedWork(runs, "")


def _reasons(calls: Sequence[HandlerCall], described: str) -> list[str]:
    """Why handlers failed, without what the built-in one says of its commands, and what is described already."""
    enforced = [call for call in calls if call.would is None and not call.counts]
    failed = [
        call
        for call in enforced
        if (call.handler.origin is not Origin.BUILT_IN if call.outcome is Outcome.FAILED else call.strict)
    ]
    return [
        f"`{call.handler.name}` {call.outcome}: {call.message}"
        for call in failed
        if call.message not in described and (stated_reason(call.result) or not call.result.get("failures"))
    ]


def _is_of_a_run(failure: Mapping[str, Any], commands: set[str]) -> bool:
    return failure.get("source") == BUILT_IN and failure.get("command") in commands


def _described(failures: Sequence[Mapping[str, Any]]) -> str:
    """What the next attempt reads: each failure with the end of its output."""
    parts = [f"{failure.get('message', '')}\n{failure.get('output_tail') or ''}".strip() for failure in failures]
    return "\n\n".join(part for part in parts if part)


def _hidden_text(paths: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:MAX_NAMED])
    return f"files that the checks run or read are hidden from git: {named}; remove them, or let git see them"


def _protected_text(paths: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:MAX_NAMED])
    return f"{PROTECTED}{named}; only a task whose `Files:` names them may change them"


class _FilesOfTrees:
    """The texts of files before and after an attempt."""

    def __init__(self, trees: Trees | None, verified: str, own: str) -> None:
        self._trees = trees
        self._verified = verified
        self._own = own

    def touched(self, commands: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
        if self._trees is None or not paths or not commands:
            return ()
        files = CheckFiles.of(commands, self._names, self.before)
        return files.touched(paths, self.before, self.after)

    def softened(self, path: str) -> list[str]:
        return softened_tests(self.before(path), self.after(path), path)

    def is_verified(self, path: str) -> bool:
        """Whether the verified tree has this file."""
        return path in self._names

    @cached_property
    def _names(self) -> list[str]:
        return self._trees.paths(self._verified) if self._trees else []

    def before(self, path: str) -> str:
        return self._text(self._verified, path)

    def after(self, path: str) -> str:
        return self._text(self._own, path)

    def _text(self, tree: str, path: str) -> str:
        content = self._trees.content(tree, path) if self._trees else None
        return (content or b"")[:MAX_TEXT].decode("utf-8", "replace")
