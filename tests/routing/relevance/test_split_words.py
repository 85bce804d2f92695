from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samuel.routing.relevance.split_words import LONGEST_SENTENCE, informative, sentences, words


def test_words_are_letters_and_digits_in_one_case() -> None:
    assert words("Run the API-v2 tests, déjà_vu!") == ["run", "the", "api", "v2", "tests", "deja", "vu"]


def test_identifiers_are_split_into_their_words() -> None:
    assert words("workflow.billing.regression runAllTests db_seed") == [
        *("workflow", "billing", "regression", "run", "all", "tests", "db", "seed")
    ]
    assert words("TypeScript and PostgreSQL") == ["typescript", "and", "postgresql"], (
        "these are names, not joined words"
    )


def test_operators_of_a_query_language_are_read_as_words() -> None:
    assert words('"a" OR NEAR(b c, 2) AND {col}: d* NOT -e ^f \x00 \U0001f600') == [
        *("a", "or", "near", "b", "c", "2", "and", "col", "d", "not", "e", "f")
    ]


def test_languages_without_spaces_are_read_in_pairs() -> None:
    assert words("部署服务 now") == ["部署", "署服", "服务", "now"]


def test_digests_and_keys_are_left_out() -> None:
    assert words(f"see {'f' * 64} there") == ["see", "there"]


def test_stop_words_and_numbers_are_not_informative() -> None:
    assert [word for word in words("Please run the 3 tests for me") if informative(word)] == ["tests"]


def test_sentences_end_at_punctuation_and_line_ends_but_not_within_names() -> None:
    assert sentences("Fix api.example.com first. Then deploy!\nThanks") == [
        ("fix", "api", "example", "com", "first"),
        ("then", "deploy"),
        ("thanks",),
    ]


def test_contractions_are_written_out_or_left_out() -> None:
    assert words("What's wrong? It doesn't, we’re") == ["what", "is", "wrong", "it", "doesn", "we"]
    assert words("the 's' of O'Reilly") == ["the", "s", "of", "o", "reilly"]


def test_names_of_source_files_become_one_word_in_a_request() -> None:
    assert sentences("Split src/app/train.py, then Main.java.") == [("split", "sourcefile", "then", "sourcefile")]
    assert sentences("run backup.sh on api.example.com") == [
        ("run", "backup", "sh", "on", "api", "example", "com")
    ]
    assert sentences("x" * 100_000 + ".py" + "/" * 100_000) == [], "and fast"


def test_a_repeated_sentence_is_read_once() -> None:
    assert sentences("again\n" * 1000) == [("again",)]


def test_the_beginning_and_the_end_of_a_long_text_are_read() -> None:
    read = sentences(f"deploy it\n{'lorem ipsum dolor ' * 60_000}\nthen purge the cache")
    assert read[0] == ("deploy", "it")
    assert read[-1] == ("then", "purge", "the", "cache")
    assert max(map(len, read)) == LONGEST_SENTENCE


@given(st.text())
def test_the_words_of_any_text_have_no_quotes_and_no_spaces(text: str) -> None:
    for word in words(text):
        assert word
        assert '"' not in word
        assert not any(character.isspace() or character == "\0" for character in word)
    assert sentences(text) == sentences(text)
