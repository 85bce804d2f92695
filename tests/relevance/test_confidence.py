from __future__ import annotations

import pytest

from samuel.relevance.confidence import PART, Sentence, Term, confidence, rarity

WEIGHTS = {"keywords": 1.0, "summary": 0.8}


def asked(*words: str, weight: float = 1.0) -> Sentence:
    return Sentence(tuple(Term(word, {word: 1.0}, weight) for word in words), frozenset(words))


def document(keywords: list[str], summary: str = "") -> dict[str, list[frozenset[str]]]:
    return {
        "keywords": [frozenset(keyword.split()) for keyword in keywords],
        "summary": [frozenset(summary.split())] if summary else [],
    }


def score(sentence: Sentence, found: dict[str, list[frozenset[str]]]) -> float:
    return confidence(sentence, found, WEIGHTS).score


def test_rarity_falls_with_the_number_of_documents_that_have_a_word() -> None:
    falling = [rarity(1000, having) for having in (1, 2, 10, 100, 500, 1000)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] == 1.0
    assert falling[-1] < 0.1


def test_among_few_documents_a_word_that_most_have_still_says_something() -> None:
    assert rarity(3, 2) > 0.7


def test_nothing_shared_is_nothing() -> None:
    match = confidence(asked("weather"), document(["deploy"]), WEIGHTS)
    assert match.score == 0
    assert match.words == ()


def test_words_that_are_missing_count_against_it() -> None:
    one = document(["deploy"])
    assert (
        score(asked("deploy"), one)
        > score(asked("deploy", "pizza"), one)
        > score(asked("deploy", "pizza", "x"), one)
    )


def test_a_phrase_is_worth_more_when_it_is_complete() -> None:
    whole = score(asked("stack", "trace"), document(["stack trace"]))
    half = score(asked("stack", "overflow"), document(["stack trace"]))
    single = score(asked("stack", "overflow"), document(["stack"]))
    assert whole > single > half


def test_one_word_of_a_phrase_may_be_chance_and_two_are_not() -> None:
    found = document(["stack trace", "error message"])
    assert score(asked("stack", "message"), found) > 2 * score(asked("stack", "overflow"), found)


def test_a_common_word_makes_no_second_one() -> None:
    found = document(["stack trace", "error message"])
    stack, error = Term("stack", {"stack": 1.0}, 1.0), Term("error", {"error": 1.0}, 1.0, common=True)
    both = frozenset({"stack", "error"})
    telling = Sentence((stack, error._replace(common=False)), both)
    assert score(Sentence((stack, error), both), found) < score(telling, found)


def test_a_field_has_its_weight() -> None:
    found = document(["deploy"], "deploy")
    assert confidence(asked("deploy"), found, WEIGHTS).words == (("deploy", "keywords"),)
    assert score(asked("deploy"), found) > score(asked("deploy"), document([], "deploy"))


def test_a_synonym_is_worth_less_than_the_word() -> None:
    term = Term("ship", {"ship": 1.0, "deploy": 0.7}, 1.0)
    other = confidence(Sentence((term,), frozenset({"ship", "deploy"})), document(["deploy"]), WEIGHTS)
    assert 0 < other.score < score(asked("deploy"), document(["deploy"]))
    assert other.words == (("ship", "keywords"),)


@pytest.mark.parametrize("words", [["a"], ["a", "b"], [chr(97 + at) for at in range(26)]])
def test_it_is_between_nothing_and_certain(words: list[str]) -> None:
    assert PART / 2 < score(asked(*words), document(words)) < 1
