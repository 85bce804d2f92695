"""The judgement of one attempt in up to four corners.

The checks run on the attempt as it is. An attempt that changed tests is judged again with the tests of the
verified tree, so that a test which it weakened does not pass for work that is done. If its task is claimed, its
tests run on the old source as well: what fails there, and passes with the work, shows that something was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from samuel.checks.acceptance_corner import AcceptanceCorner, AcceptanceVerdict
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.narrowed_runs import on_changed_tests, on_failed_tests
from samuel.checks.planting import ShownToFail
from samuel.checks.refusal_texts import contested_text
from samuel.checks.sealed_judge import SealedVerdict
from samuel.checks.verdict import CheckVerdict, failed_names, record_of
from samuel.events.loop import CheckRun
from samuel.evidence.claim import (
    NEEDS_NONE,
    NOT_LOOKED_FOR,
    ONLY_TESTS,
    UNPROVEN,
    ClaimFacts,
    Proof,
    judge_claim,
    passes_before,
)
from samuel.evidence.fail_to_pass import FailToPass, fail_to_pass, fails_again, passes_again
from samuel.history.acceptance_tests import AcceptanceTests
from samuel.history.attempt_record import MAX_NAMED as MAX_RECORDED
from samuel.history.attempt_record import CheckRecord, EvidenceRecord
from samuel.tasks.task import Task

CHANGED = "the checks fail on the files that they changed themselves"
DISARMED = "the checks cannot fail any more with this work"
NOT_TRIED = "not tried: only documents, comments or numbers changed"


class Claim(NamedTuple):
    """What is asked of an attempt whose agent claims the task."""

    proof: Proof = "ask"
    kind: str = ""
    sent_back: tuple[str, ...] = ()
    """Why earlier claims of the task went back: `unproven`, or tests that they changed."""
    accepted_by: str = ""
    """The person who accepted that old tests fail."""
    is_last: bool = False
    """Whether the task is blocked if this attempt fails: then a person decides about contested tests at once."""


class AttemptVerdict(NamedTuple):
    checks: CheckVerdict
    check_files: tuple[str, ...] = ()
    """Tests that the attempt changed, and files which decide what the checks do."""
    not_owned: tuple[str, ...] = ()
    """Those of them that its task does not own: the `old tests` are as they were before."""
    own_runs: tuple[CheckRun, ...] = ()
    changed_by_checks: Mapping[str, bytes | None] = {}
    """Files that the checks changed, a formatter among them; they belong to the work."""
    evidence: EvidenceRecord | None = None
    """What shows that the task was done; None if it is not claimed, or the checks failed."""
    unproven: str = ""
    """Why the claim goes back to the agent, although the checks passed."""
    contested: tuple[str, ...] = ()
    """Old tests that fail with the work, or that it removed or weakened, though its task does not own them."""
    put_back: tuple[str, ...] = ()
    """Those of these tests that a person had changed and not committed: they are as the person had them."""
    disputed: bool = False
    """True: the same tests were contested before, so a person has to decide."""


class AttemptJudge:
    """The judgement of one attempt, corner by corner."""

    def __init__(
        self,
        runs: CornerRuns,
        task: Task,
        tests: ChangedTests,
        claim: Claim | None,
        locked: AcceptanceTests | None = None,
    ) -> None:
        """`locked` are the acceptance tests of the task."""
        self._locked = locked
        self._runs = runs
        self._task = task
        self._tests = tests
        self._claim = claim
        self._records: list[CheckRecord] = []
        self._still_red: tuple[str, ...] = ()
        self._sealed = SealedVerdict()
        self._can_fail: ShownToFail | None = None
        self._green_before: tuple[str, ...] = ()  # checks of the task that pass without the work

    def judge(self, tree: str) -> AttemptVerdict:
        work, changed = self._runs.own(tree)
        checks_own = self._tests.among(changed)
        own_changes = {path: text for path, text in changed.items() if path not in checks_own}
        own_verdict = self._runs.verdict(work.runs)
        why = "\n\n".join(text for text in (own_verdict.why, work.other_failures) if text)
        self._records += own_verdict.records
        if not own_verdict.passed or work.other_failures:
            return self._ended(own_verdict._replace(passed=False, why=why))
        self._still_red = own_verdict.still_red
        if own_changes:
            self._tests.take_in(own_changes)
            if why := self._fails_as_changed(own_verdict):
                return self._ended(own_verdict._replace(passed=False, why=why))
        if ended := self._with_old_tests(own_verdict) or self._with_sealed_checks(own_verdict, self._tests.own):
            return ended
        return self._accepted(own_verdict, work.runs)._replace(changed_by_checks=own_changes)

    def _fails_as_changed(self, own: CheckVerdict) -> str:
        """Why the checks fail on what they made of the work; "" if they pass: only what they saw is accepted."""
        runs = self._runs.corner("own again", self._tests.own, [check.command for check in own.records])
        verdict = self._runs.verdict(runs)
        return "" if verdict.passed else f"{CHANGED}\n{verdict.why}"

    def _with_old_tests(self, own: CheckVerdict) -> AttemptVerdict | None:
        """The verdict if the work fails old tests, or removed or weakened them; None if it did neither."""
        is_accepted = bool(self._claim and self._claim.accepted_by)
        not_owned = self._not_owned
        # Where the attempt changed tests, only a run with those as they were can tell which do not run any more.
        not_run = own.not_run if self._tests.verified and not self._tests.paths and not is_accepted else ()
        failed: tuple[str, ...] = ()
        text = ""
        for old in self._old_tests(not_owned):
            self._runs.report(old)
            runs = self._on_old_tests(old, [check.command for check in own.records])
            verdict = self._runs.verdict(runs)
            self._records += (record_of(run, corner="old tests") for run in runs)
            self._still_red = verdict.still_red  # a red test is not green because it was changed
            not_run = verdict.not_run if old == self._tests.paths else not_run
            if not verdict.passed:
                failed, text = failed_names(runs, self._runs.failing(runs)), verdict.why
                break
        softened = self._tests.softened(not_owned)
        if not_owned and not failed and not not_run:  # by a condition, which the text of a test does not tell
            softened |= {f"{id} is skipped now": not_owned[0] for id in own.newly_skipped}
        contested = (*failed, *not_run, *softened)
        if not contested:
            return None
        claim = self._claim
        is_again = claim is not None and {*contested} <= {*claim.sent_back}
        weakened = not_owned if own.newly_skipped else [*dict.fromkeys(softened.values())]
        if is_again and not failed and not not_run and self._put_back(weakened, own):
            return None
        return self._ended(
            own._replace(passed=False, why=contested_text(not_owned, failed, not_run, [*softened], text)),
            contested=contested,
            put_back=self._runs.put_persons(not_owned),
            disputed=is_again or (claim is not None and claim.is_last),
        )

    def _old_tests(self, not_owned: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Which tests are as they were, for each run with the old tests.

        A program that a check runs may be a part of the checks or of the work, and is taken for both.
        """
        programs = self._tests.programs(not_owned)
        if not_owned and self._tests.sources:
            yield not_owned
        if programs and (tests := tuple(path for path in not_owned if path not in programs)):
            yield tests

    def _on_old_tests(self, not_owned: Sequence[str], commands: Sequence[str]) -> tuple[CheckRun, ...]:
        """The checks with these tests as they were. A check of the task's own may need a test that is new."""
        of_task = [command for command in commands if command in self._task.checks]
        others = [command for command in commands if command not in of_task]
        existing = [path for path in not_owned if self._tests.is_verified(path)]
        runs: tuple[CheckRun, ...] = ()
        if others:
            tree = self._tests.with_old_tests(not_owned)
            runs += self._runs.corner("old tests", tree, others, lambda run: on_failed_tests(self._tests, run))
        if of_task and existing:
            runs += self._runs.corner("old tests", self._tests.with_old_tests(existing), of_task)
        return runs

    @property
    def _not_owned(self) -> tuple[str, ...]:
        """The changed tests that need not be believed; the locked ones are what they must be."""
        if self._claim and self._claim.accepted_by:
            return ()
        locked = self._locked.paths if self._locked else ()
        return tuple(path for path in self._tests.not_owned(self._task) if path not in locked)

    def _with_sealed_checks(self, own: CheckVerdict, tree: str) -> AttemptVerdict | None:
        """The verdict if a sealed check fails with a claim; None if none does."""
        if self._claim is None:
            return None
        verified = self._tests.verified if self._claim.proof != "off" else ""
        self._sealed = self._runs.sealed.verdict(self._runs.showing, tree, verified)
        self._records += self._sealed.records
        self._runs.trees |= {"sealed": tree, "sealed before": verified}
        if self._sealed.red_before:
            self._still_red = ()
        return self._ended(own._replace(passed=False, why=self._sealed.why)) if self._sealed.why else None

    def _put_back(self, paths: Sequence[str], own: CheckVerdict) -> bool:
        """Whether the work passes with these weakened tests as they were, too: then they are put back."""
        without = self._tests.without(paths)
        runs = self._runs.corner("old tests", without.own, [check.command for check in own.records])
        verdict = self._runs.verdict(runs)
        if not verdict.passed or self._runs.put(paths):
            return False
        self._tests, self._runs.trees["own"] = without, without.own  # which these runs were about
        self._records = [*verdict.records, *(record for record in self._records if record.corner != "own")]
        return True

    def _accepted(self, own: CheckVerdict, runs: tuple[CheckRun, ...]) -> AttemptVerdict:
        claim = self._claim
        if claim is None:
            return self._ended(own, own_runs=runs)
        acceptance = self._acceptance(runs)
        if acceptance.why:
            return self._ended(own._replace(passed=False, why=acceptance.why))
        if claim.accepted_by:
            text = f"tests fail that were there before; accepted by {claim.accepted_by}"
            evidence = EvidenceRecord(grade="disputed", rests_on=text, place=self._runs.place)
            return self._ended(own, own_runs=runs, evidence=evidence)
        facts = self._facts(claim, runs, acceptance)
        if untold := [name for name in facts.green_before if name not in self._runs.green_before]:
            self._runs.warn(f"task {self._task.id}: {passes_before(untold)}")
        is_empty = not self._tests.changed  # then it is stalled, or its task needs no change
        verdict = judge_claim(facts, claim.proof, sent_back=is_empty or UNPROVEN in claim.sent_back)
        can_fail = ShownToFail("")
        if not verdict.why and not is_empty:
            can_fail = self._shown_to_fail(runs)
            if can_fail.disarmed:
                return self._ended(own._replace(passed=False, why=f"{DISARMED}: {can_fail.disarmed}"))
        evidence = EvidenceRecord(
            grade=verdict.grade,
            rests_on=verdict.rests_on,
            place=self._runs.place,
            fail_to_pass=(acceptance.proofs or tuple(proof.name for proof in facts.proofs))[:MAX_RECORDED],
            shown_to_fail=can_fail.answer,
            sealed=self._runs.sealed.sealed,
        )
        return self._ended(own, own_runs=runs, evidence=evidence, unproven=verdict.why)

    def _facts(self, claim: Claim, runs: tuple[CheckRun, ...], acceptance: AcceptanceVerdict) -> ClaimFacts:
        """What is known about the claim; what is not known yet is looked for."""
        change = self._tests.change()
        # Of a refactoring and the like no proof is expected: it is looked for where that costs little.
        is_asked = claim.proof == "require" or claim.kind not in NEEDS_NONE
        proofs: tuple[FailToPass, ...] = ()
        if claim.proof != "off" and change in ("code", "names") and not acceptance.proofs:
            proofs = self._proofs(runs, is_asked=is_asked)
        own_checks = (*self._own_checks(runs), *self._sealed.red_before) if claim.proof != "off" else ()
        not_compared = ""
        if not any(record.corner == "old source" for record in self._records):
            not_compared = ONLY_TESTS if not self._tests.sources else "" if is_asked else NOT_LOOKED_FOR
        return ClaimFacts(
            kind=claim.kind,
            has_checks=bool(runs or self._sealed.records),
            change=change,
            has_tests=bool(self._tests.paths),
            not_compared=not_compared,
            proofs=proofs,
            own_checks=own_checks,
            green_before=(
                *self._green_before,
                *self._sealed.green_before,
            ),
            acceptance=acceptance.proofs,
            flaky=tuple(run.command for run in runs if run.flaky),
            still_red=self._still_red,
        )

    def _shown_to_fail(self, own: Sequence[CheckRun]) -> ShownToFail:
        """Whether the checks can fail with this work: planted once, when it is first asked for."""
        if self._claim is None or self._claim.proof == "off" or not self._runs.is_clean:
            return ShownToFail("")
        if not self._tests.can_disarm:
            return ShownToFail(NOT_TRIED)
        if self._can_fail is None:
            self._can_fail = self._runs.planting(self._tests, self._records).shown_to_fail(own)
        return self._can_fail

    def _acceptance(self, own: Sequence[CheckRun]) -> AcceptanceVerdict:
        """What the locked tests say; nothing if there are none."""
        if self._locked is None:
            return AcceptanceVerdict()
        verdict = AcceptanceCorner(self._locked, self._tests, self._not_owned, self._runs).judge(own)
        self._records += verdict.records
        if verdict.proofs:
            self._still_red = ()
        return verdict

    def _proofs(self, own: Sequence[CheckRun], *, is_asked: bool) -> tuple[FailToPass, ...]:
        """What fails when the attempt's tests run on the old source, and passes with its own.

        Unless it is asked for, only checks run of which a few test files are enough.
        """
        tree = self._tests.with_old_source()
        if not tree:  # it could not differ
            return ()
        lines = {run.command: on_changed_tests(self._tests, run.command) for run in own if run.passed}
        runs = self._runs.old_source(tree, {command: line for command, line in lines.items() if line or is_asked})
        self._records += (record_of(run, corner="old source") for run in runs)
        return self._repeated(fail_to_pass(own, runs), tree, own)

    def _repeated(
        self, proofs: tuple[FailToPass, ...], old_source: str, own: Sequence[CheckRun]
    ) -> tuple[FailToPass, ...]:
        """Those of the proofs that pass with the work and fail without it once more.

        A test may act on anything else: it fails when it is run again, at another time, or every other time. So
        the order differs from work to work, and is the same for the same work.
        """
        if not any(proof.by_behaviour or proof.kind == "missing" for proof in proofs):
            return proofs  # they show nothing

        def lines(of: Iterable[FailToPass]) -> dict[str, str]:
            return {proof.command: on_changed_tests(self._tests, proof.command) for proof in of}

        def with_work() -> set[FailToPass]:
            planted = self._shown_to_fail(own).runs  # the same tests run there, beside one that fails
            passed = {proof for proof in proofs if _passes_beside(proof, planted.get(proof.command))}
            others = [proof for proof in proofs if proof not in passed]
            runs = self._runs.again("own again", self._tests.own, lines(others))
            return passed | {proof for proof in others if passes_again(proof, runs.get(proof.command))}

        def without_work() -> set[FailToPass]:
            runs = self._runs.again("old source again", old_source, lines(proofs))
            return {proof for proof in proofs if fails_again(proof, runs.get(proof.command))}

        is_odd = int(self._tests.own[-1], 16) % 2  # the name of its tree
        first, second = (with_work, without_work) if is_odd else (without_work, with_work)
        repeated = first() & second()
        return tuple(proof for proof in proofs if proof in repeated)

    def _own_checks(self, own: Sequence[CheckRun]) -> tuple[str, ...]:
        """The checks that came with the task, fail on the verified tree and pass now."""
        passed = [run.command for run in own if run.passed and run.command in self._task.checks]
        if not passed or not self._tests.verified:
            return ()
        runs = self._runs.corner("before", self._tests.verified, passed)
        self._records += (record_of(run, corner="before") for run in runs)
        self._green_before = tuple(run.command for run in runs if run.passed)
        red = [run.command for run in runs if not run.passed and run.exit_code not in (None, 126, 127)]
        return tuple(red) if not self._tests.paths else self._red_with_new_tests(red)

    def _red_with_new_tests(self, commands: Sequence[str]) -> tuple[str, ...]:
        """Those of the checks that need more than the tests which the attempt wrote for them."""
        if not (tree := self._tests.with_old_source()) or not commands:
            return ()
        runs = self._runs.corner("old source", tree, commands)
        return tuple(run.command for run in runs if not run.passed)

    def _ended(self, verdict: CheckVerdict, **more: Any) -> AttemptVerdict:
        trees = self._runs.trees
        records = tuple(replace(record, tree=trees.get(record.corner, record.tree)) for record in self._records)
        verdict = verdict._replace(records=records, still_red=self._still_red)
        return AttemptVerdict(verdict, self._tests.paths, not_owned=self._not_owned, **more)


def _passes_beside(proof: FailToPass, planted: CheckRun | None) -> bool:
    """Whether a test passed in a run in which a planted one failed."""
    return proof.is_test and planted is not None and (planted.tests or {}).get(proof.name) == "passed"
