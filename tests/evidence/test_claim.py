"""What a claim is worth: every combination of a task's kind, its change and what was seen in the corners."""

from __future__ import annotations

import pytest

from samuel.events.loop import CheckRun
from samuel.evidence.claim import NOT_LOOKED_FOR, ClaimFacts, Proof, judge_claim
from samuel.evidence.fail_to_pass import FailToPass, fail_to_pass, fails_again, passes_again

BY_ASSERTION = (FailToPass("tests.test_a::test_one", "assertion"),)
BY_NAME = (FailToPass("tests.test_a::test_one", "missing"),)
BY_EXCEPTION = (FailToPass("tests.test_a::test_one", "error", is_test=True),)
BY_ACCIDENT = (FailToPass("make test", "error"),)


@pytest.mark.parametrize(
    ("facts", "grade"),
    [
        (ClaimFacts(has_tests=True, proofs=BY_ASSERTION), "proven"),
        (ClaimFacts(has_tests=True, proofs=BY_NAME), "proven, new names only"),
        (ClaimFacts(has_tests=True, proofs=(*BY_NAME, *BY_ASSERTION)), "proven"),
        (ClaimFacts(has_tests=True, proofs=BY_EXCEPTION), "proven"),
        (ClaimFacts(has_tests=True, proofs=BY_ACCIDENT), "checked"),
        (ClaimFacts(has_tests=True), "checked"),
        (ClaimFacts(), "checked"),
        (ClaimFacts(change="comments", proofs=BY_ASSERTION), "checked"),
        (ClaimFacts(change="names", proofs=BY_ASSERTION), "proven, new names only"),
        (ClaimFacts(change="names"), "checked"),
        (ClaimFacts(change="documents"), "checked"),
        (ClaimFacts(own_checks=("make e2e",)), "proven"),
        (ClaimFacts(change="documents", own_checks=("test -f MANUAL",)), "proven"),
        (ClaimFacts(has_checks=False, proofs=BY_ASSERTION), "unverified"),
        (ClaimFacts(still_red=("make test",), proofs=BY_ASSERTION), "unverified"),
    ],
)
def test_grade_says_what_was_seen(facts: ClaimFacts, grade: str) -> None:
    assert judge_claim(facts, "ask", sent_back=True).grade == grade
    assert judge_claim(facts, "ask", sent_back=True).why == ""


@pytest.mark.parametrize(
    ("kind", "change", "is_sent_back"),
    [
        ("fix", "code", True),
        ("feature", "code", True),
        ("fix", "documents", True),
        ("refactor", "code", False),
        ("perf", "code", False),
        ("docs", "comments", False),
        ("chore", "comments", False),
        ("test", "code", False),
        ("", "code", False),
        ("", "documents", False),
        ("", "comments", True),
    ],
)
def test_claim_without_proof_goes_back_once_where_a_proof_can_be_expected(
    kind: str, change: str, is_sent_back: bool
) -> None:
    facts = ClaimFacts(kind=kind, change=change)  # type: ignore[arg-type]
    assert bool(judge_claim(facts, "ask", sent_back=False).why) is is_sent_back
    assert judge_claim(facts, "ask", sent_back=True).why == ""
    assert judge_claim(facts, "require", sent_back=True).why != ""
    assert judge_claim(facts, "off", sent_back=False) == ("checked", "the checks pass", "")


def test_claim_whose_check_was_flaky_is_not_sent_back_for_that() -> None:
    verdict = judge_claim(ClaimFacts(kind="fix", has_tests=True, flaky=("make test",)), "ask", sent_back=False)
    assert (verdict.grade, verdict.why) == ("checked", "")
    assert verdict.rests_on.startswith("`make test` failed once")


@pytest.mark.parametrize("proof", ["ask", "require", "off"])
def test_proven_claim_is_never_sent_back(proof: Proof) -> None:
    assert judge_claim(ClaimFacts(kind="fix", proofs=BY_ASSERTION), proof, sent_back=False).why == ""


def test_claim_whose_tests_do_not_even_run_on_the_old_source_is_accepted_as_checked() -> None:
    verdict = judge_claim(ClaimFacts(kind="fix", has_tests=True, proofs=BY_ACCIDENT), "ask", sent_back=False)
    assert (verdict.grade, verdict.why) == ("checked", "")
    assert "pass without the change" not in verdict.rests_on


def run(passed: bool, **fields: object) -> CheckRun:
    return CheckRun(command="make test", passed=passed, exit_code=0 if passed else 1, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("own", "without", "proofs"),
    [
        (
            run(True, tests={"a": "passed"}),
            run(False, tests={"a": "failed"}, kinds={"a": "assertion"}),
            [("a", "assertion", True)],
        ),
        (  # a module that could not be loaded
            run(True, tests={"m::a": "passed"}),
            run(False, tests={"m": "failed"}, kinds={"m": "missing"}),
            [("m::a", "missing", False)],
        ),
        (run(True), run(False, kinds={"a": "error"}), [("a", "error", True)]),
        (run(True, tests={"a": "passed"}), run(True, tests={"a": "passed"}), []),
        # An id that is not in both runs may have a time in it; the command as a whole has failed all the same.
        (
            run(True, tests={"a 12:01": "passed"}),
            run(False, tests={"a 12:02": "failed"}),
            [("make test", "error", False)],
        ),
        # A test that is there only without the work shows nothing, however it fails.
        (
            run(True, tests={"a": "passed"}),
            run(False, tests={"a": "passed", "b": "failed"}, kinds={"b": "assertion"}),
            [("make test", "error", False)],
        ),
        (run(True, tests={"a": "skipped"}), run(False, tests={"a": "failed"}), [("make test", "error", False)]),
        (run(True), run(False, failure_kind="missing"), [("make test", "missing", False)]),
        (run(True), run(False, failure_kind="assertion"), [("make test", "assertion", False)]),
        (run(True), run(False), [("make test", "error", False)]),
        (run(False), run(False, failure_kind="assertion"), []),
        (run(True, flaky=True), run(False, failure_kind="assertion"), []),
        (run(True), CheckRun(command="make test", passed=False, exit_code=None), []),
        (run(True), CheckRun(command="other", passed=False, exit_code=1), []),
    ],
)
def test_fail_to_pass_counts_what_both_runs_have(
    own: CheckRun, without: CheckRun, proofs: list[tuple[str, str, bool]]
) -> None:
    results = fail_to_pass([own], [without])
    assert [(proof.name, proof.kind, proof.is_test) for proof in results] == proofs
    assert {proof.command for proof in results} <= {"make test"}


def test_proof_holds_where_its_test_passes_with_the_work_once_more() -> None:
    proof = FailToPass("a", "assertion", "make test")
    assert passes_again(proof, run(True))
    assert passes_again(proof, run(False, tests={"a": "passed", "b": "failed"}))
    assert passes_again(proof, None)  # another handler runs the checks
    assert not passes_again(proof, run(False, tests={"a": "failed"}))
    assert not passes_again(proof, run(False, tests={"a": "skipped"}))
    assert not passes_again(FailToPass("make test", "assertion", "make test"), run(False))
    assert fails_again(proof, run(False, tests={"a": "failed"}))
    assert fails_again(proof, run(False))
    assert fails_again(proof, None)
    assert not fails_again(proof, run(False, tests={"a": "passed", "b": "failed"}))
    assert not fails_again(proof, run(True))


@pytest.mark.parametrize(
    ("proofs", "words"),
    [
        ((FailToPass("test_a", "assertion", "make", True),), "1 test fails without the change: `test_a`"),
        ((FailToPass("make", "assertion", "make"),), "`make` fails without the change"),
        ((FailToPass("calc", "missing", "make"),), "`calc` fails without the change, for a missing name"),
    ],
)
def test_a_check_that_fails_without_the_change_is_not_called_a_test(
    proofs: tuple[FailToPass, ...], words: str
) -> None:
    assert judge_claim(ClaimFacts(has_tests=True, proofs=proofs), "ask", sent_back=False).rests_on == words


def test_tests_that_did_not_run_without_the_change_are_not_said_to_pass_there() -> None:
    facts = ClaimFacts(kind="refactor", has_tests=True, not_compared=NOT_LOOKED_FOR)
    assert judge_claim(facts, "ask", sent_back=False) == ("checked", NOT_LOOKED_FOR, "")
