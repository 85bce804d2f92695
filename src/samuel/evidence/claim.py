"""What a claim is worth, after the checks passed: its grade, or why it goes back to the agent once.

Pure: the corners ran before. A claim that no test shows is not refused for good: many honest changes have none. It
is sent back once, with the reason, and accepted as `checked` when it comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from samuel.base.printable import listed
from samuel.evidence.fail_to_pass import FailToPass
from samuel.tasks.grade import Grade

Proof = Literal["ask", "require", "off"]
Change = Literal["code", "names", "comments", "documents"]
"""What an attempt changed at most: code, names without anything behind them, comments, or documents alone."""

UNPROVEN = "unproven"
"""The mark of a task whose claim was sent back for want of a proof."""

MOST_NAMED = 5
NEEDS_PROOF = ("fix", "feature")
NEEDS_NONE = ("refactor", "docs", "chore", "perf", "test")

NO_CODE = "the change has no code: only comments and blank lines"
DOCUMENTS = "only documents changed"
NO_TEST = "no test shows the change: nothing was added or changed that fails without it"
NO_TEST_FAILS = "without the change its tests do not run, so they do not show what it does"
NO_DIFFERENCE = "its tests pass without the change as well, so they do not show that the task is done"
ONLY_TESTS = "only tests changed, and they pass on the source as it is"
NOT_LOOKED_FOR = "its tests were not tried without the change: a task of this kind needs no proof"
MISSING = "add or change a test that fails without your change and passes with it, then claim the task again"


class ClaimFacts(NamedTuple):
    """What is known about a claim whose checks passed."""

    kind: str = ""
    """What kind of task it is; "" if that is not known."""
    has_checks: bool = True
    change: Change = "code"
    has_tests: bool = False
    """Whether it changed tests."""
    not_compared: str = ""
    """Why these did not run on the old source; "" if they did."""
    proofs: Sequence[FailToPass] = ()
    own_checks: Sequence[str] = ()
    """Checks that came with the task, and sealed checks, that failed before the work and pass now."""
    green_before: Sequence[str] = ()
    """Those that passed before the work as well."""
    acceptance: Sequence[str] = ()
    """Locked acceptance tests of the task that failed before the work and pass now."""
    flaky: Sequence[str] = ()
    """Checks that passed only when they were run once more."""
    still_red: Sequence[str] = ()
    """What failed before the attempt, if it turned none of it green."""


class ClaimVerdict(NamedTuple):
    grade: Grade
    rests_on: str
    """What the grade rests on, in words."""
    why: str = ""
    """Why the claim is sent back; "" if it is accepted."""


def judge_claim(facts: ClaimFacts, proof: Proof, *, sent_back: bool) -> ClaimVerdict:
    """The verdict on a claim; `sent_back` is whether one for the same task went back already."""
    grade, rests_on = _graded(facts, proof)
    if facts.green_before and not facts.own_checks:
        rests_on += f"; {passes_before(facts.green_before)}"
    if grade in ("proven", "proven, new names only") or proof == "off":
        return ClaimVerdict(grade, rests_on)
    if proof == "require":
        return ClaimVerdict(grade, rests_on, f"{rests_on}; {MISSING}")
    needs_proof = facts.kind in NEEDS_PROOF or (facts.change == "comments" and facts.kind not in NEEDS_NONE)
    # Without a check no test could show anything; with a flaky one, or on source that does not build, none does.
    cannot_show = not facts.has_checks or facts.flaky or facts.proofs
    if sent_back or not needs_proof or cannot_show:
        return ClaimVerdict(grade, rests_on)
    return ClaimVerdict(grade, rests_on, f"{rests_on}; {MISSING}")


def passes_before(checks: Sequence[str]) -> str:
    """What a person should know about checks of a task that are green without the work."""
    return f"{_named(checks)} passes before the work as well, so it proves nothing"


def _graded(facts: ClaimFacts, proof: Proof) -> tuple[Grade, str]:
    if not facts.has_checks:
        return "unverified", "no check looked at it"
    if facts.still_red:
        return "unverified", "the checks failed before it, and it turned nothing green"
    if proof == "off":
        return "checked", "the checks pass"
    if facts.acceptance:
        passes = "acceptance test that failed before passes" if len(facts.acceptance) == 1 else ""
        passes = passes or "acceptance tests that failed before pass"
        return "proven", f"{len(facts.acceptance)} {passes} now: {_named(facts.acceptance)}"
    if facts.own_checks:
        return "proven", f"{_named(facts.own_checks)} failed before the work and passes with it"
    if facts.change not in ("code", "names"):
        return "checked", NO_CODE if facts.change == "comments" else DOCUMENTS
    by_behaviour = [each for each in facts.proofs if each.by_behaviour]
    if by_behaviour and facts.change == "code":
        return "proven", _failing(by_behaviour, "without the change")
    by_name = by_behaviour + [each for each in facts.proofs if each.kind == "missing"]
    if by_name:
        return "proven, new names only", _failing(by_name, "without the change, for a missing name")
    if facts.proofs:
        return "checked", NO_TEST_FAILS
    if facts.flaky:
        return (
            "checked",
            f"{_named(facts.flaky)} failed once and passed when it was run again, so it shows nothing",
        )
    return "checked", (facts.not_compared or NO_DIFFERENCE) if facts.has_tests else NO_TEST


def _named(names: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in names], MOST_NAMED)


def _failing(proofs: Sequence[FailToPass], when: str) -> str:
    """What fails; a check, or a program that is not built, is no test."""
    names = [each.name for each in proofs]
    if not all(each.is_test for each in proofs):
        return f"{_named(names)} {'fails' if len(names) == 1 else 'fail'} {when}"
    return f"{len(names)} {'test fails' if len(names) == 1 else 'tests fail'} {when}: {_named(names)}"
