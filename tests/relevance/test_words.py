from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samuel.relevance.words import LONGEST_SENTENCE, informative, sentences, words


def test_words_are_letters_and_digits_in_one_case() -> None:
    assert words("Run the API-v2 tests, déjà_vu!") == ["run", "the", "api", "v2", "tests", "deja", "vu"]


def test_names_of_code_are_taken_apart() -> None:
    assert words("workflow.billing.regression runAllTests db_seed") == [
        *("workflow", "billing", "regression", "run", "all", "tests", "db", "seed")
    ]
    assert words("TypeScript and PostgreSQL") == ["typescript", "and", "postgresql"], (
        "these are names, not joined words"
    )


def test_a_query_language_is_only_words() -> None:
    assert words('"a" OR NEAR(b c, 2) AND {col}: d* NOT -e ^f \x00 \U0001f600') == [
        *("a", "or", "near", "b", "c", "2", "and", "col", "d", "not", "e", "f")
    ]


def test_languages_without_spaces_are_read_in_pairs() -> None:
    assert words("部署服务 now") == ["部署", "署服", "服务", "now"]


def test_digests_and_keys_are_left_out() -> None:
    assert words(f"see {'f' * 64} there") == ["see", "there"]


def test_what_says_nothing_is_known() -> None:
    assert [word for word in words("Please run the 3 tests for me") if informative(word)] == ["tests"]


def test_sentences_end_where_people_end_them() -> None:
    assert sentences("Fix api.example.com first. Then deploy!\nThanks") == [
        ("fix", "api", "example", "com", "first"),
        ("then", "deploy"),
        ("thanks",),
    ]


def test_short_forms_are_written_out_or_left_out() -> None:
    assert words("What's wrong? It doesn't, we’re") == ["what", "is", "wrong", "it", "doesn", "we"]
    assert words("the 's' of O'Reilly") == ["the", "s", "of", "o", "reilly"]


def test_files_of_code_are_all_the_same_in_what_is_asked() -> None:
    assert sentences("Split src/app/train.py, then Main.java.") == [("split", "sourcefile", "then", "sourcefile")]
    assert sentences("run backup.sh on api.example.com") == [
        ("run", "backup", "sh", "on", "api", "example", "com")
    ]
    assert sentences("x" * 100_000 + ".py" + "/" * 100_000) == [], "and soon"


def test_what_is_said_again_and_again_is_read_once() -> None:
    assert sentences("again\n" * 1000) == [("again",)]


def test_the_beginning_and_the_end_of_a_long_text_are_read() -> None:
    found = sentences(f"deploy it\n{'lorem ipsum dolor ' * 60_000}\nthen purge the cache")
    assert found[0] == ("deploy", "it")
    assert found[-1] == ("then", "purge", "the", "cache")
    assert max(map(len, found)) == LONGEST_SENTENCE


@given(st.text())
def test_any_text_has_plain_words(text: str) -> None:
    for word in words(text):
        assert word
        assert '"' not in word
        assert not any(one.isspace() or one == "\0" for one in word)
    assert sentences(text) == sentences(text)
