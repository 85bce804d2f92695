from __future__ import annotations

import pytest

from samuel.routing.relevance.confidence import (
    PARTIAL_PHRASE_FACTOR,
    SYNONYM_WEIGHT,
    Form,
    Sentence,
    Term,
    confidence,
    rarity,
)

WEIGHTS = {"keywords": 1.0, "summary": 0.8}


def terms(*words: str, weight: float = 1.0) -> Sentence:
    return sentence(*(term(word, weight) for word in words))


def term(word: str, weight: float = 1.0, **kind: bool) -> Term:
    return Term(word, {word: Form()}, weight, **kind)


def sentence(*terms: Term) -> Sentence:
    stems = frozenset(term.word for term in terms)
    return Sentence(terms, stems, stems.union(*(term.forms for term in terms)))


def document(keywords: list[str], summary: str = "") -> dict[str, list[frozenset[str]]]:
    return {
        "keywords": [frozenset(keyword.split()) for keyword in keywords],
        "summary": [frozenset(summary.split())] if summary else [],
    }


def score(sentence: Sentence, document: dict[str, list[frozenset[str]]]) -> float:
    return confidence(sentence, document, WEIGHTS).score


def test_rarity_falls_with_the_number_of_documents_that_have_a_word() -> None:
    falling = [rarity(1000, having) for having in (1, 2, 10, 100, 500, 1000)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] == 1.0
    assert falling[-1] < 0.1


def test_among_few_documents_a_word_that_most_have_still_says_something() -> None:
    assert rarity(3, 2) > 0.7


def test_without_a_shared_word_the_score_is_zero() -> None:
    match = confidence(terms("weather"), document(["deploy"]), WEIGHTS)
    assert match.score == 0
    assert match.words == ()


def test_words_that_a_document_lacks_lower_its_score() -> None:
    doc = document(["deploy"])
    assert (
        score(terms("deploy"), doc)
        > score(terms("deploy", "pizza"), doc)
        > score(terms("deploy", "pizza", "x"), doc)
    )


def test_a_phrase_is_worth_more_when_it_is_complete() -> None:
    whole = score(terms("stack", "trace"), document(["stack trace"]))
    half = score(terms("stack", "overflow"), document(["stack trace"]))
    single = score(terms("stack", "overflow"), document(["stack"]))
    assert whole > single > half


def test_words_of_two_phrases_score_higher_than_a_word_of_one() -> None:
    doc = document(["stack trace", "error message"])
    assert score(terms("stack", "message"), doc) > 1.5 * score(terms("stack", "overflow"), doc)


def test_an_everyday_word_is_worth_less() -> None:
    doc = document(["stack trace", "error message"])
    assert score(sentence(term("stack"), term("error", everyday=True)), doc) < score(terms("stack", "error"), doc)


def test_everyday_words_that_are_a_whole_phrase_are_worth_as_much_as_others() -> None:
    load, test = (term(word, everyday=True) for word in ("load", "test"))
    assert score(sentence(load, test), document(["load test"])) == score(
        terms("load", "test"), document(["load test"])
    )
    assert score(sentence(load, test), document(["load", "test"])) < score(
        terms("load", "test"), document(["load", "test"])
    )


def test_an_off_topic_word_lowers_the_score_of_a_document_that_lacks_it() -> None:
    role = document(["role"])
    wants_code = sentence(term("role"), term("regex", 0.4, off_topic=True))
    assert score(wants_code, role) < score(sentence(term("role"), term("regex", 0.4)), role)
    assert score(wants_code, document(["role", "regex"])) > score(wants_code, role)


def test_a_word_scores_by_the_weight_of_its_field() -> None:
    doc = document(["deploy"], "deploy")
    assert confidence(terms("deploy"), doc, WEIGHTS).words == (("deploy", "keywords"),)
    assert score(terms("deploy"), doc) > score(terms("deploy"), document([], "deploy"))


def test_a_synonym_is_worth_less_than_the_word() -> None:
    ship = Term("ship", {"ship": Form(), "deploi": Form(SYNONYM_WEIGHT, "deploy")}, 1.0)
    other = confidence(sentence(ship), document(["deploi"]), WEIGHTS)
    assert 0 < other.score < score(terms("ship"), document(["ship"]))
    assert other.words == (("ship (deploy)", "keywords"),), "the match names the synonym"


def test_two_synonyms_of_the_same_word_count_once() -> None:
    doc = document(["translation"])
    french, german = (
        Term(word, {word: Form(), "translation": Form(SYNONYM_WEIGHT, "translation")}, 1.0)
        for word in ("fr", "de")
    )
    assert score(sentence(french, german), doc) == pytest.approx(score(sentence(french), doc))


@pytest.mark.parametrize("words", [["a"], ["a", "b"], [chr(97 + at) for at in range(26)]])
def test_the_score_of_a_complete_match_is_below_one(words: list[str]) -> None:
    assert PARTIAL_PHRASE_FACTOR / 2 < score(terms(*words), document(words)) < 1
