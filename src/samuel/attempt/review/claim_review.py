"""The gate in front of a completed task: a claim that the checks have passed is read by another agent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from msgspec.structs import replace

from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.defaults import REVIEW
from samuel.attempt.run_files import RunFiles
from samuel.attempt.steps import Steps
from samuel.attempt.stop import IterationEnded
from samuel.attempt.workplace import Workplace
from samuel.base.decoding import convert
from samuel.base.printable import file_name, listed, safe, shell_word, shorten
from samuel.checks.checked_work import checked
from samuel.dispatch.record import Fired
from samuel.events import QualityCheck
from samuel.events.endings import IterationOutcome
from samuel.events.loop import CheckedCorner, ClaimedWork, Review
from samuel.git.trees import Trees
from samuel.history.attempt_record import FindingRecord, ReviewRecord
from samuel.history.budgets import add_usage
from samuel.history.run import Run
from samuel.hooks.handler import Outcome
from samuel.tasks.task import Task

MOST_NAMED = 5
LONGEST = 500  # characters of one text of a finding


class ClaimReview:
    """Lets another agent read the work on a task. It may refuse, and has no other say."""

    def __init__(self, place: Workplace, files: RunFiles, steps: Steps, facts: AttemptFacts) -> None:
        self._place = place
        self._files = files
        self._steps = steps
        self._facts = facts

    def judge(self, run: Run, task: Task, window: Callable[[], AbstractContextManager[None]]) -> None:
        """Raise IterationEnded unless the work is accepted; nothing happens where no review is asked for."""
        trees, state, facts = self._files.trees, self._files.attempts.state, self._facts
        if not self._place.settings.review.agent or trees is None or state.left == state.verified:
            return
        if who := task.review_waived_by:
            facts.review = ReviewRecord(verdict="waived", accepted_by=who)
            return
        self._place.meter.add(facts.usage)
        event = QualityCheck(commands=[], task=task.plain(), corner="claim", claim=self._claim())
        before = trees.snapshot()
        with window():
            fired = self._steps.ask(run, event)
        record = self._record(fired)
        if record is not None and (why := self._put_back(trees, before)):
            record = replace(record, verdict="none", why=why)
        if record is not None:
            facts.review = record
            facts.usage = add_usage(facts.usage, record.usage)
        if record is None or record.verdict == "accept":
            if why := checked(fired).other_failures:
                raise IterationEnded(IterationOutcome.QUALITY_FAILED, why)
            return
        facts.grade = ""
        if record.verdict == "refuse":
            raise IterationEnded(IterationOutcome.REVIEW_FAILED, record.refusal)
        raise IterationEnded(
            IterationOutcome.REVIEW_UNAVAILABLE, f"`{record.reviewer}` gave no verdict: {record.why}"
        )

    def _claim(self) -> ClaimedWork:
        state, facts = self._files.attempts.state, self._facts
        return ClaimedWork(
            tree=state.left,
            base=state.verified,
            grade=facts.grade,
            rests_on=facts.evidence.rests_on if facts.evidence else "",
            checks=[
                CheckedCorner(command=check.command, corner=check.corner, passed=check.passed)
                for check in facts.checks
            ],
        )

    def _record(self, fired: Fired) -> ReviewRecord | None:
        """What came of the readings; None if none was asked for, or another handler found something wrong."""
        answers = fired.result.get("reviews") or []
        reviews = [convert(answer, Review) for answer in answers]
        if reviews:
            return _summary(reviews)
        call = next((call for call in fired.calls if call.handler.name == REVIEW), None)
        has_failed = call is not None and call.outcome is not Outcome.OK
        if not self._place.reviews_work or (not has_failed and checked(fired).other_failures):
            return None
        why = (call.message if call else "") or "it was not asked"
        return ReviewRecord(reviewer=self._place.settings.review.agent, verdict="none", why=shorten(why, LONGEST))

    def _put_back(self, trees: Trees, before: str) -> str:
        """Put back what changed in the work tree meanwhile; gives why the reading does not count then."""
        after = trees.snapshot()
        if not (changed := sorted(trees.differing(before, after))):
            return ""
        for problem in trees.put(before, changed):
            self._place.warn(problem)
        named = listed([f"`{file_name(path)}`" for path in changed], MOST_NAMED)
        self._files.repository.note(
            f"files changed while the work was reviewed, and were put back: {named}; "
            f"`git show {shell_word(after)}:PATH` prints what they were"
        )
        return f"files of the project changed during the review, and were put back: {named}"


def _summary(reviews: list[Review]) -> ReviewRecord:
    """All readings as one: refused if one refused, and accepted only if each accepted."""
    verdicts = [review.verdict for review in reviews]
    verdict = next((word for word in ("refuse", "none") if word in verdicts), "accept")
    usage: dict[str, int | float] = {}
    for review in reviews:
        usage = add_usage(usage, review.usage)
    return ReviewRecord(
        reviewer=", ".join(dict.fromkeys(shorten(review.reviewer) for review in reviews)),
        verdict=verdict,
        lenses=tuple(shorten(review.lens) for review in reviews),
        findings=tuple(
            FindingRecord(
                file=shorten(finding.file, LONGEST),
                line=finding.line,
                severity=finding.severity,
                what=safe(finding.what)[:LONGEST],
                shows=safe(finding.shows)[:LONGEST],
            )
            for review in reviews
            for finding in review.findings
        ),
        why="; ".join(shorten(review.why, LONGEST) for review in reviews if review.why),
        seconds=round(sum(review.seconds for review in reviews), 3),
        usage=usage,
    )
