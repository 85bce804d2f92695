from __future__ import annotations

from samuel.shipped.knowledge_trigger.rules import SEARCHED, Intents, Trigger, first_fitting

INTENTS = Intents((Trigger(("before I commit", r"\bpre-?commit\b"), "checks"), Trigger(("commit",), "commit")))


def named(text: str) -> str:
    found = first_fitting(INTENTS, text)
    return found.intent if found else ""


def test_the_first_whose_words_are_there() -> None:
    assert named("What BEFORE i COMMIT?") == "checks"
    assert named("precommit") == "checks"
    assert named("how do I commit") == "commit"
    assert named("how do I push") == ""


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    assert named(" " * (SEARCHED - 6) + "commit") == "commit"
    assert named(" " * SEARCHED + "commit") == ""
