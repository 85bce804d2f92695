from __future__ import annotations

from samuel.shipped.knowledge_trigger.rules import MAX_SEARCHED, Intents, Trigger, first_match

INTENTS = Intents((Trigger(("before I commit", r"\bpre-?commit\b"), "checks"), Trigger(("commit",), "commit")))


def named(text: str) -> str:
    intent = first_match(INTENTS, text)
    return intent.intent if intent else ""


def test_the_first_intent_with_a_matching_expression_decides() -> None:
    assert named("What BEFORE i COMMIT?") == "checks"
    assert named("precommit") == "checks"
    assert named("how do I commit") == "commit"
    assert named("how do I push") == ""


def test_knowledge_trigger_searches_only_the_beginning_of_a_long_text() -> None:
    assert named(" " * (MAX_SEARCHED - 6) + "commit") == "commit"
    assert named(" " * MAX_SEARCHED + "commit") == ""
