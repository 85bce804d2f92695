"""Judging an attempt by the checks, in up to four corners.

The checks run on the attempt as it is. An attempt that changed tests is judged again with the tests of the
verified tree, so that a test which it weakened does not pass for work that is done. If its task is claimed, its
tests run on the old source as well: what fails there, and passes with the work, shows that something was done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol

from samuel.base.printable import file_name, listed
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.files import ProtectedFiles, owned
from samuel.checks.memory import CheckMemory
from samuel.checks.planting import Planting, ShownToFail
from samuel.checks.put_back import PutBack
from samuel.checks.repeat import repeated
from samuel.checks.verdict import CheckVerdict, check_runs, counting_failures, failed_names, judge, record_of
from samuel.dispatch.record import Fired, HandlerCall
from samuel.dispatch.replies import stated_reason
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import CheckRoom, RoomFailed
from samuel.evidence.claim import UNPROVEN, ClaimFacts, Proof, judge_claim
from samuel.evidence.corner import Corner
from samuel.evidence.fail_to_pass import FailToPass, fail_to_pass
from samuel.git.trees import Trees
from samuel.history.attempt_record import MAX_NAMED as MAX_RECORDED
from samuel.history.attempt_record import CheckRecord, EvidenceRecord
from samuel.history.attempts import AttemptChanges
from samuel.history.notices import CheckFilesChanged, Watch, ignore_reports
from samuel.hooks.handler import Origin, Outcome
from samuel.tasks.task import Task

BUILT_IN = "default"  # the source of failures that the commands themselves report
PROTECTED = "files that samuel.toml protects were changed, and put back: "
DISARMED = "the checks cannot fail any more with this work"
CONTESTED = "the task does not own these tests, which this attempt changed: "
MAX_NAMED = 10


class CheckedWork(NamedTuple):
    """What one run of all checks said."""

    runs: tuple[CheckRun, ...]
    other_failures: str
    """What handlers other than the built-in one found wrong, or why the check could not run; "" for nothing."""


class Claim(NamedTuple):
    """What is asked of an attempt whose agent claims the task."""

    proof: Proof = "ask"
    kind: str = ""
    sent_back: tuple[str, ...] = ()
    """Why earlier claims of the task went back: `unproven`, or tests that they changed."""
    accepted_by: str = ""
    """The person who accepted that old tests fail."""


class AttemptVerdict(NamedTuple):
    checks: CheckVerdict
    check_files: tuple[str, ...] = ()
    """Tests that the attempt changed, and files which decide what the checks do."""
    own_runs: tuple[CheckRun, ...] = ()
    changed_by_checks: Mapping[str, bytes | None] = {}
    """Files that the checks changed, a formatter among them; they belong to the work."""
    evidence: EvidenceRecord | None = None
    """What shows that the task was done; None if it is not claimed, or the checks failed."""
    unproven: str = ""
    """Why the claim goes back to the agent, although the checks passed."""
    contested: tuple[str, ...] = ()
    """Old tests that fail with the work, or that it removed or weakened, though its task does not own them."""
    disputed: bool = False
    """True: the same tests were contested before, so a person has to decide."""


class CheckRunner(Protocol):
    """Runs the checks on the tree that is shown."""

    def all(self) -> Fired:
        """Fire `quality.check`."""

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun | None:
        """Run one command as the built-in handler does, or `line` in its place; None if that takes no part."""


class Judgement:
    """Judges one attempt. `trees`, `put_back` and `room` are None without a git repository."""

    def __init__(
        self,
        trees: Trees | None,
        put_back: PutBack | None,
        room: CheckRoom | None,
        memory: CheckMemory,
        commands: Sequence[str],
        protect: ProtectedFiles,
        checks: CheckRunner,
        watch: Watch = ignore_reports,
    ) -> None:
        self._trees = trees
        self._put_back = put_back
        self._room = room
        self._memory = memory
        self._commands = commands
        self._protect = protect
        self._checks = checks
        self._watch = watch

    def judge(
        self, task: Task, attempt: AttemptChanges, verified: str, claim: Claim | None = None
    ) -> AttemptVerdict:
        """The verdict; `claim` is None if the task is not claimed. Protected files are put back."""
        tests = ChangedTests(self._trees, verified, attempt.tree, self._commands)
        if refused := self._refused(task, tests):
            why = _protected_text(refused, self.put(refused))
            return AttemptVerdict(CheckVerdict(False, why), tuple(refused))
        if hidden := self._hidden(tests):
            return AttemptVerdict(CheckVerdict(False, _hidden_text(hidden)), tuple(hidden))
        if not_kept := self._not_kept(tests.paths):
            problems = self.put(list(not_kept))
            return AttemptVerdict(CheckVerdict(False, _not_kept_text(not_kept, problems)), tests.paths)
        try:
            return _AttemptJudge(self, task, tests, claim).judge(attempt.tree)
        except RoomFailed as failed:
            return AttemptVerdict(CheckVerdict(False, f"the checks could not run: {failed.message}"), tests.paths)

    def _refused(self, task: Task, tests: ChangedTests) -> list[str]:
        chosen = self._protect.of(tests.changed, tests.is_verified)
        owned_paths = owned(task, chosen)
        return [path for path in chosen if path not in owned_paths]

    def _hidden(self, tests: ChangedTests) -> list[str]:
        """Files of the checks that git ignores and that were not there before the first agent.

        No tree has them, so they could neither be left out nor put back. A clean room does not have them.
        """
        if self._trees is None or not self._commands or (self._room is not None and self._room.is_clean):
            return []
        new = [path for path in self._trees.ignored() if path not in self._memory.ignored]
        return [path for path in tests.among(new) if not path.endswith("/")]

    def _not_kept(self, touched: Sequence[str]) -> dict[str, str]:
        """Files of the checks that no tree can have, so that they cannot be judged twice; and why."""
        not_kept = self._trees.not_kept if self._trees is not None else {}
        return {path: not_kept[path] for path in touched if path in not_kept}

    def put(self, paths: Sequence[str]) -> list[str]:
        """Put these files back for good; gives why one could not be put."""
        return self._put_back.verified(paths) if self._put_back is not None else []

    def failing(self, runs: Sequence[CheckRun]) -> set[str]:
        """The commands of these runs whose failure counts."""
        return counting_failures(runs, self._memory.baseline, self._memory.verified)

    def showing(self, tree: str) -> AbstractContextManager[None]:
        return self._room.showing(tree) if self._room is not None else nullcontext()

    def own(self, tree: str) -> tuple[CheckedWork, dict[str, bytes | None]]:
        """The checks on the attempt as it is, with all handlers; and the files that they changed."""
        with self.showing(tree):
            work = checked(self._checks.all())
            runs = repeated(work.runs, self.failing, lambda command: self._checks.command(command, "own"))
            changed = self._room.changed() if self._room is not None else {}
        return work._replace(runs=runs), changed

    def corner(self, corner: Corner, tree: str, commands: Sequence[str]) -> tuple[CheckRun, ...]:
        """The commands on another tree; one whose failure counts is run once more before it is believed."""
        with self.showing(tree):
            runs = tuple(run for command in commands if (run := self._checks.command(command, corner)) is not None)
            if corner == "old source":  # a failure is expected there, and proves nothing if it is an accident
                return runs
            return repeated(runs, self.failing, lambda command: self._checks.command(command, corner))

    @property
    def can_plant(self) -> bool:
        """Whether a failing test can be planted: not where the agent works."""
        return self._room is not None and self._room.is_clean

    def planting(self, tests: ChangedTests, records: list[CheckRecord]) -> Planting:
        """Plants failing tests into this attempt; each run is added to the records."""

        def run(tree: str, command: str, line: str) -> CheckRun | None:
            with self.showing(tree):
                planted = self._checks.command(command, "planted", line)
            if planted is not None:
                records.append(record_of(planted, corner="planted"))
            return planted

        return Planting(tests, run, self._memory.verified or self._memory.baseline)

    def verdict(self, runs: Sequence[CheckRun]) -> CheckVerdict:
        return judge(runs, baseline=self._memory.baseline, before=self._memory.verified)

    @property
    def trees(self) -> Trees:
        assert self._trees is not None
        return self._trees

    @property
    def place(self) -> str:
        """Where the checks run, in words."""
        return "clean room" if self._room is not None and self._room.is_clean else "in place"

    def report(self, paths: Sequence[str]) -> None:
        self._watch(CheckFilesChanged(tuple(map(file_name, paths))))


class _AttemptJudge:
    """The judgement of one attempt, corner by corner."""

    def __init__(self, judgement: Judgement, task: Task, tests: ChangedTests, claim: Claim | None) -> None:
        self._judgement = judgement
        self._task = task
        self._tests = tests
        self._claim = claim
        self._records: list[CheckRecord] = []
        self._still_red: tuple[str, ...] = ()

    def judge(self, tree: str) -> AttemptVerdict:
        work, changed = self._judgement.own(tree)
        checks_own = self._tests.among(changed)
        own_changes = {path: text for path, text in changed.items() if path not in checks_own}
        own_verdict = self._judgement.verdict(work.runs)
        why = "\n\n".join(text for text in (own_verdict.why, work.other_failures) if text)
        self._records += own_verdict.records
        if not own_verdict.passed or work.other_failures:
            return self._ended(own_verdict._replace(passed=False, why=why))
        self._still_red = own_verdict.still_red
        if own_changes:
            self._tests.take_in(own_changes)
        if ended := self._with_old_tests(own_verdict):
            return ended
        return self._accepted(own_verdict, work.runs)._replace(changed_by_checks=own_changes)

    def _with_old_tests(self, own: CheckVerdict) -> AttemptVerdict | None:
        """The verdict if the work fails old tests, or removed or weakened them; None if it did neither."""
        not_owned = () if self._claim and self._claim.accepted_by else self._tests.not_owned(self._task)
        if not not_owned:
            return None
        failed: tuple[str, ...] = ()
        text = ""
        if self._tests.sources:
            self._judgement.report(not_owned)
            tree = self._tests.with_old_tests(not_owned)
            runs = self._judgement.corner("old tests", tree, [check.command for check in own.records])
            verdict = self._judgement.verdict(runs)
            self._records += (record_of(run, corner="old tests") for run in runs)
            self._still_red = verdict.still_red  # a red test is not green because it was changed
            if not verdict.passed:
                failed, text = failed_names(runs, self._judgement.failing(runs)), verdict.why
        softened = self._tests.softened(not_owned)
        if not failed and not softened:
            return None
        contested = (*failed, *softened)
        before = self._claim.sent_back if self._claim else ()
        if {*contested} <= {*before} and not failed and self._put_back([*dict.fromkeys(softened.values())], own):
            return None
        return self._ended(
            own._replace(passed=False, why=_contested_text(not_owned, failed, [*softened], text)),
            contested=contested,
            disputed=self._claim is not None and {*contested} <= {*before},
        )

    def _put_back(self, paths: Sequence[str], own: CheckVerdict) -> bool:
        """Whether the work passes with these weakened tests as they were, too: then they are put back."""
        without = self._tests.without(paths)
        runs = self._judgement.corner("old tests", without.own, [check.command for check in own.records])
        if not self._judgement.verdict(runs).passed or self._judgement.put(paths):
            return False
        self._tests = without
        return True

    def _accepted(self, own: CheckVerdict, runs: tuple[CheckRun, ...]) -> AttemptVerdict:
        claim = self._claim
        if claim is None:
            return self._ended(own, own_runs=runs)
        if claim.accepted_by:
            text = f"tests fail that were there before; accepted by {claim.accepted_by}"
            evidence = EvidenceRecord(grade="disputed", rests_on=text, place=self._judgement.place)
            return self._ended(own, own_runs=runs, evidence=evidence)
        change = self._tests.change()
        proofs = self._proofs(runs) if claim.proof != "off" and change == "code" else ()
        facts = ClaimFacts(
            kind=claim.kind,
            has_checks=bool(runs),
            change=change,
            has_tests=bool(self._tests.paths),
            proofs=proofs,
            own_checks=self._own_checks(runs) if claim.proof != "off" else (),
            still_red=self._still_red,
        )
        is_empty = not self._tests.changed  # then it is stalled, or its task needs no change
        verdict = judge_claim(facts, claim.proof, sent_back=is_empty or UNPROVEN in claim.sent_back)
        can_fail = ShownToFail("")
        if claim.proof != "off" and not verdict.why and not is_empty and self._judgement.can_plant:
            can_fail = self._judgement.planting(self._tests, self._records).shown_to_fail(runs)
            if can_fail.disarmed:
                return self._ended(own._replace(passed=False, why=f"{DISARMED}: {can_fail.disarmed}"))
        evidence = EvidenceRecord(
            grade=verdict.grade,
            rests_on=verdict.rests_on,
            place=self._judgement.place,
            fail_to_pass=tuple(proof.name for proof in proofs)[:MAX_RECORDED],
            shown_to_fail=can_fail.answer,
        )
        return self._ended(own, own_runs=runs, evidence=evidence, unproven=verdict.why)

    def _proofs(self, own: Sequence[CheckRun]) -> tuple[FailToPass, ...]:
        """What fails when the attempt's tests run on the old source, and passes with its own."""
        tree = self._tests.with_old_source()
        if not tree:  # it could not differ
            return ()
        runs = self._judgement.corner("old source", tree, [run.command for run in own if run.passed])
        self._records += (record_of(run, corner="old source") for run in runs)
        return fail_to_pass(own, runs)

    def _own_checks(self, own: Sequence[CheckRun]) -> tuple[str, ...]:
        """The checks that came with the task, fail on the verified tree and pass now."""
        passed = [run.command for run in own if run.passed and run.command in self._task.checks]
        if not passed or not self._tests.verified:
            return ()
        runs = self._judgement.corner("before", self._tests.verified, passed)
        self._records += (record_of(run, corner="before") for run in runs)
        return tuple(run.command for run in runs if not run.passed and run.exit_code not in (None, 126, 127))

    def _ended(self, verdict: CheckVerdict, **more: Any) -> AttemptVerdict:
        verdict = verdict._replace(records=tuple(self._records), still_red=self._still_red)
        return AttemptVerdict(verdict, self._tests.paths, **more)


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


def _not_put_text(problems: Sequence[str]) -> str:
    return (
        "files that the checks run or read could not be put back, so the attempt counts as failed: "
        + "; ".join(problems[:MAX_NAMED])
        + "; make them writable for the user of the run"
    )


def _contested_text(paths: Sequence[str], failed: Sequence[str], softened: Sequence[str], why: str) -> str:
    """What the next attempt reads, and a person who has to decide."""
    named = listed([f"`{file_name(path)}`" for path in paths], MAX_NAMED)
    lines = [f"{CONTESTED}{named}"]
    if failed:
        lines.append(f"as they were, they fail with this work: {listed(failed, MAX_NAMED)}")
    lines += (f"weakened: {line}" for line in softened[:MAX_NAMED])
    lines.append(
        "make the work pass the tests as they were; if the task cannot be done without changing them, "
        "claim it again with the same changes, and a person decides"
    )
    return "\n".join([*lines, *([why] if why else ())])
