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
Change = Literal["code", "comments", "documents"]
"""What an attempt changed at most: code, comments and blank lines of code, or documents alone."""

UNPROVEN = "unproven"
"""The mark of a task whose claim was sent back for want of a proof."""

MOST_NAMED = 5
NEEDS_PROOF = ("fix", "feature")
NEEDS_NONE = ("refactor", "docs", "chore", "perf", "test")

NO_CODE = "the change has no code: only comments and blank lines"
DOCUMENTS = "only documents changed"
NO_TEST = "no test shows the change: nothing was added or changed that fails without it"
NO_DIFFERENCE = "its tests pass without the change as well, so they do not show that the task is done"
MISSING = "add or change a test that fails without your change and passes with it, then claim the task again"


class ClaimFacts(NamedTuple):
    """What is known about a claim whose checks passed."""

    kind: str = ""
    """What kind of task it is; "" if that is not known."""
    has_checks: bool = True
    change: Change = "code"
    has_tests: bool = False
    """Whether it changed tests."""
    proofs: Sequence[FailToPass] = ()
    own_checks: Sequence[str] = ()
    """Checks that came with the task, and sealed checks, that failed before the work and pass now."""
    green_before: Sequence[str] = ()
    """Those that passed before the work as well."""
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
    if sent_back or not needs_proof or not facts.has_checks:  # without a check no test could show anything
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
    if facts.own_checks:
        return "proven", f"{_named(facts.own_checks)} failed before the work and passes with it"
    if facts.change != "code":
        return "checked", NO_CODE if facts.change == "comments" else DOCUMENTS
    by_assertion = [proof_found.name for proof_found in facts.proofs if proof_found.kind == "assertion"]
    if by_assertion:
        return "proven", f"{_count(by_assertion)} without the change: {_named(by_assertion)}"
    by_name = [proof_found.name for proof_found in facts.proofs if proof_found.kind == "missing"]
    if by_name:
        return (
            "proven, new names only",
            f"{_count(by_name)} without the change, for a missing name: {_named(by_name)}",
        )
    return "checked", NO_DIFFERENCE if facts.has_tests else NO_TEST


def _named(names: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in names], MOST_NAMED)


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} {'test fails' if len(names) == 1 else 'tests fail'}"
