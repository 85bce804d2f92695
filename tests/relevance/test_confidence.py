from __future__ import annotations

import pytest

from samuel.relevance.confidence import ALIKE, PART, Form, Sentence, Term, confidence, rarity

WEIGHTS = {"keywords": 1.0, "summary": 0.8}


def asked(*words: str, weight: float = 1.0) -> Sentence:
    return sentence(*(term(word, weight) for word in words))


def term(word: str, weight: float = 1.0, **kind: bool) -> Term:
    return Term(word, {word: Form()}, weight, **kind)


def sentence(*terms: Term) -> Sentence:
    said = frozenset(term.word for term in terms)
    return Sentence(terms, said, said.union(*(term.forms for term in terms)))


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


def test_two_words_of_phrases_say_more_than_one() -> None:
    found = document(["stack trace", "error message"])
    assert score(asked("stack", "message"), found) > 1.5 * score(asked("stack", "overflow"), found)


def test_an_everyday_word_is_worth_less() -> None:
    found = document(["stack trace", "error message"])
    assert score(sentence(term("stack"), term("error", everyday=True)), found) < score(
        asked("stack", "error"), found
    )


def test_everyday_words_that_are_a_whole_phrase_are_worth_as_much_as_others() -> None:
    load, test = (term(word, everyday=True) for word in ("load", "test"))
    assert score(sentence(load, test), document(["load test"])) == score(
        asked("load", "test"), document(["load test"])
    )
    assert score(sentence(load, test), document(["load", "test"])) < score(
        asked("load", "test"), document(["load", "test"])
    )


def test_what_shows_that_something_else_is_wanted_counts_against_what_does_not_have_it() -> None:
    role = document(["role"])
    wants_code = sentence(term("role"), term("regex", 0.4, elsewhere=True))
    assert score(wants_code, role) < score(sentence(term("role"), term("regex", 0.4)), role)
    assert score(wants_code, document(["role", "regex"])) > score(wants_code, role)


def test_a_field_has_its_weight() -> None:
    found = document(["deploy"], "deploy")
    assert confidence(asked("deploy"), found, WEIGHTS).words == (("deploy", "keywords"),)
    assert score(asked("deploy"), found) > score(asked("deploy"), document([], "deploy"))


def test_a_synonym_is_worth_less_than_the_word() -> None:
    ship = Term("ship", {"ship": Form(), "deploi": Form(ALIKE, "deploy")}, 1.0)
    other = confidence(sentence(ship), document(["deploi"]), WEIGHTS)
    assert 0 < other.score < score(asked("ship"), document(["ship"]))
    assert other.words == (("ship (deploy)", "keywords"),), "it says what it was found by"


def test_two_words_for_the_same_are_one_piece_of_evidence() -> None:
    found = document(["translation"])
    french, german = (
        Term(word, {word: Form(), "translation": Form(ALIKE, "translation")}, 1.0) for word in ("fr", "de")
    )
    assert score(sentence(french, german), found) == pytest.approx(score(sentence(french), found))


@pytest.mark.parametrize("words", [["a"], ["a", "b"], [chr(97 + at) for at in range(26)]])
def test_it_is_between_nothing_and_certain(words: list[str]) -> None:
    assert PART / 2 < score(asked(*words), document(words)) < 1
