"""Judging an attempt by the checks.

An attempt that changed files which the checks run or read is judged twice: with these files as they are in the
verified tree, and with its own. So a check that the attempt weakened does not pass for work that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from samuel.base.printable import file_name
from samuel.checks.files import CheckFiles, ProtectedFiles, owned
from samuel.checks.memory import CheckMemory
from samuel.checks.put_back import PutBack
from samuel.checks.repeat import Repeat, never_repeat, repeated
from samuel.checks.softened_tests import softened_tests
from samuel.checks.verdict import CheckVerdict, check_runs, counting_failures, judge
from samuel.dispatch.record import Fired, HandlerCall
from samuel.dispatch.replies import stated_reason
from samuel.events.loop import CheckRun
from samuel.git.trees import Trees
from samuel.history.attempts import AttemptChanges
from samuel.history.notices import CheckFilesChanged, CheckFilesPut, Watch, ignore_reports
from samuel.hooks.handler import Origin, Outcome
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
    """Judges one attempt. `check` runs all checks on the work tree as it is, `repeat` one of them once more.

    `trees` and `put_back` are None without a git repository.
    """

    def __init__(
        self,
        trees: Trees | None,
        put_back: PutBack | None,
        memory: CheckMemory,
        commands: Sequence[str],
        protect: ProtectedFiles,
        check: Callable[[], Fired],
        watch: Watch = ignore_reports,
        repeat: Repeat = never_repeat,
    ) -> None:
        self._trees = trees
        self._put_back = put_back
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
            why = _protected_text(refused, self._put(refused))
            return AttemptVerdict(CheckVerdict(False, why), tuple(refused))
        if hidden := self._hidden(files):
            return AttemptVerdict(CheckVerdict(False, _hidden_text(hidden)), tuple(hidden))
        touched = files.touched(self._commands, paths)
        if not_kept := self._not_kept(touched):
            problems = self._put(list(not_kept))
            return AttemptVerdict(CheckVerdict(False, _not_kept_text(not_kept, problems)), touched)
        owned_files = owned(task, touched)
        not_owned = [path for path in touched if path not in owned_files]
        try:
            with_verified = self._check_with(attempt.tree, not_owned)
            own = checked(self._check())
            own_runs = repeated(own.runs, self._failing, self._repeat)
            if with_verified and not self._failing(own_runs):  # else it failed, whatever it changed
                with_verified = self._repeat_with(attempt.tree, not_owned, with_verified)
        except _NotPut as error:
            return AttemptVerdict(CheckVerdict(False, _not_put_text(error.problems)), touched)
        verdict = judge(
            own_runs,
            baseline=self._memory.baseline,
            verified=with_verified,
            check_files=touched,
            owned_files=owned_files,
            softened_tests=[line for path in touched for line in files.softened(path)],
            before=self._memory.verified,
        )
        not_put = self._put(verdict.softened)
        if own.other_failures or not_put:
            texts = (verdict.why, own.other_failures, _not_put_text(not_put) if not_put else "")
            verdict = verdict._replace(passed=False, why="\n\n".join(text for text in texts if text))
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

    def _not_kept(self, touched: Sequence[str]) -> dict[str, str]:
        """Files of the checks that no tree can have, so that they cannot be judged twice; and why."""
        not_kept = self._trees.not_kept if self._trees is not None else {}
        return {path: not_kept[path] for path in touched if path in not_kept}

    def _check_with(self, own: str, paths: Sequence[str]) -> tuple[CheckRun, ...] | None:
        """The checks with these files as in the verified tree; None if there are none. Raises _NotPut."""
        if not paths or self._put_back is None:
            return None
        self._watch(CheckFilesChanged(tuple(map(file_name, paths))))
        return self._with_verified(own, paths, lambda: checked(self._check()).runs)

    def _repeat_with(self, own: str, paths: Sequence[str], runs: tuple[CheckRun, ...]) -> tuple[CheckRun, ...]:
        """The runs with these files as in the verified tree, after those that failed were repeated."""
        if not self._failing(runs):
            return runs
        return self._with_verified(own, paths, lambda: repeated(runs, self._failing, self._repeat))

    def _with_verified(
        self, own: str, paths: Sequence[str], check: Callable[[], tuple[CheckRun, ...]]
    ) -> tuple[CheckRun, ...]:
        """What `check` gives while these files are as in the verified tree. Raises _NotPut."""
        assert self._put_back is not None
        not_put = self._put_back.verified(paths)
        self._watch(CheckFilesPut(own=False))
        try:
            runs = check() if not not_put else ()
        finally:
            not_put += self._put_back.own(own, paths)
            self._watch(CheckFilesPut(own=True))
        if not_put:
            raise _NotPut(not_put)
        return runs

    def _put(self, paths: Sequence[str]) -> list[str]:
        """Put these files back for good; gives why one could not be put."""
        return self._put_back.verified(paths) if self._put_back is not None else []


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


def _not_kept_text(not_kept: Mapping[str, str], problems: Sequence[str]) -> str:
    named = ", ".join(f"`{path}` ({why})" for path, why in list(not_kept.items())[:MAX_NAMED])
    text = f"files that the checks run or read cannot be judged: {named}; leave them as they were"
    return f"{text}\n{_not_put_text(problems)}" if problems else f"{text}; they were put back"


def _protected_text(paths: Sequence[str], not_put: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:MAX_NAMED])
    put = "" if not not_put else "; not all of them could be put back"
    text = f"{PROTECTED}{named}{put}; only a task whose `Files:` names them may change them"
    return f"{text}\n{_not_put_text(not_put)}" if not_put else text


class _NotPut(Exception):
    """A file of the checks could not be made what it must be: `problems` says which, and why."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = problems


def _not_put_text(problems: Sequence[str]) -> str:
    return (
        "files that the checks run or read could not be put back, so the attempt counts as failed: "
        + "; ".join(problems[:MAX_NAMED])
        + "; make them writable for the user of the run"
    )


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
