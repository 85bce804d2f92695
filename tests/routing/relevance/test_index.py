from __future__ import annotations

import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.routing.relevance.index import IndexedText, TextIndex

WEIGHTS = {"keywords": 1.0, "order": 0.8}  # `order` is a word of SQL: a field may have any name
DOCUMENTS = [
    IndexedText(
        "deploy", {"keywords": "deploy\nroll out", "order": "Build, tag and release a service to production"}
    ),
    IndexedText("rollback", {"keywords": "rollback\nprevious version", "order": "Take a service back"}),
    IndexedText("logs", {"keywords": "search logs\nstack trace", "order": "Find messages by time and severity"}),
    IndexedText("tests", {"keywords": "unit tests\npytest", "order": "Run the tests of one package"}),
    IndexedText("empty", {}),
]


@pytest.fixture
def index() -> Iterator[TextIndex]:
    with TextIndex(lambda: DOCUMENTS, WEIGHTS) as text_index:
        yield text_index


def ids(index: TextIndex, text: str) -> list[str]:
    return [hit.id for hit in index.search(text)]


def test_other_forms_of_a_word_are_found(index: TextIndex) -> None:
    assert ids(index, "deploying services") == ["deploy"]
    assert ids(index, "tested the package")[0] == "tests"


def test_synonyms_of_a_word_are_found(index: TextIndex) -> None:
    assert ids(index, "ship the service")[0] == "deploy"
    assert ids(index, "reverting to the previous version") == ["rollback"]


def test_two_words_find_the_compound_word_of_a_document(index: TextIndex) -> None:
    (hit,) = index.search("roll back!")
    assert hit.id == "rollback"
    assert hit.matched == {"keywords": ("roll back",)}


def test_a_verb_of_two_words_finds_its_synonym_of_one_word(index: TextIndex) -> None:
    (hit,) = index.search("please go back!")
    assert (hit.id, hit.matched) == ("rollback", {"keywords": ("go back (rollback)",)})


def test_a_word_with_one_typing_error_is_found(index: TextIndex) -> None:
    (hit,) = index.search("the unit tests of the pacakge")
    assert hit.id == "tests"
    assert "pacakge (package)" in hit.matched["order"]
    assert ids(index, "depolyed") == ids(index, "deploiing") == ["deploy"]


def test_a_common_word_is_not_taken_for_a_misspelt_one() -> None:
    with TextIndex(lambda: [IndexedText("train", {"keywords": "models"})], WEIGHTS) as index:
        assert index.search("modells", floor=0)
        assert index.search("modals", floor=0) == [], "it is in a word list, so it was meant"


def test_words_of_the_same_family_are_found() -> None:
    with TextIndex(lambda: [IndexedText("train", {"keywords": "train\ntester"})], WEIGHTS) as index:
        (hit,) = index.search("retrain it")
        assert hit.matched == {"keywords": ("retrain (train)",)}
        assert ids(index, "trainers") == ["train"]


def test_a_question_for_an_explanation_finds_only_documents_that_answer_questions() -> None:
    documents = [IndexedText("promote", {"keywords": "serving endpoint"})]
    with (
        TextIndex(lambda: documents, WEIGHTS) as things_to_do,
        TextIndex(lambda: documents, WEIGHTS, answers_questions=True) as answers,
    ):
        for text in ("What is an endpoint?", "how do I use an endpoint", "what's an endpoint"):
            assert ids(things_to_do, text) == []
            assert ids(answers, text) == ["promote"]
        assert ids(things_to_do, "the endpoint") == ["promote"]


def test_a_request_for_code_finds_no_ability() -> None:
    with TextIndex(lambda: [IndexedText("promote", {"keywords": "serving endpoint"})], WEIGHTS) as index:
        assert ids(index, "the endpoint of the client") == ["promote"]
        assert ids(index, "the endpoint of the class") == []
        assert ids(index, "the endpoint of src/client.py") == []


def test_names_with_numbers_do_not_change_the_score(index: TextIndex) -> None:
    assert index.search("deploy v14 exp219")[0].score == index.search("deploy")[0].score


def test_a_hit_says_which_words_were_found_where(index: TextIndex) -> None:
    (hit,) = index.search("search the logs for severity")
    assert hit.matched == {"keywords": ("search", "logs"), "order": ("severity",)}
    assert 0 < hit.score < 1


@pytest.mark.parametrize("text", ["", "the weather in Lisbon", "please do it now", "!?", "\0", "😀", "x" * 10_000])
def test_a_text_that_no_document_is_about_finds_nothing(index: TextIndex, text: str) -> None:
    assert index.search(text) == []


def test_one_matching_sentence_of_many_is_enough(index: TextIndex) -> None:
    text = "Good morning. I was on holiday, and Paris was lovely. Could you search the logs? Thanks a lot."
    assert ids(index, text) == ["logs"]


def test_a_megabyte_is_searched_by_its_beginning_and_its_end(index: TextIndex) -> None:
    noise = "lorem ipsum dolor sit amet " * 40_000
    assert ids(index, f"Search the logs.\n{noise}") == ["logs"]
    assert ids(index, f"{noise}\nSearch the logs.") == ["logs"]


@pytest.mark.slow
def test_a_megabyte_of_different_words_is_searched(index: TextIndex) -> None:
    letters = random.Random(1)
    noise = " ".join("".join(letters.choices(string.ascii_lowercase, k=7)) for _ in range(130_000))
    assert ids(index, f"Search the logs.\n{noise}") == ["logs"]


def test_documents_that_are_not_admitted_make_room_for_others() -> None:
    with TextIndex(lambda: [IndexedText(f"{n:03}", {"keywords": "deploy"}) for n in range(200)], WEIGHTS) as index:
        assert [hit.id for hit in index.search("deploy", 2, floor=0)] == ["000", "001"]
        later = index.search("deploy", 2, floor=0, admits=lambda id: id > "150")
        assert [hit.id for hit in later] == ["151", "152"]


def test_the_order_of_the_documents_does_not_change_the_hits(index: TextIndex) -> None:
    text = "deploy the service, search the logs, run the tests, roll back"
    with TextIndex(lambda: [DOCUMENTS[at] for at in (3, 1, 4, 0, 2)], WEIGHTS) as shuffled:
        assert shuffled.search(text) == index.search(text)


def test_a_cached_index_is_used_until_the_stamp_changes(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "index.db"
    builds: list[str] = []

    def documents() -> list[IndexedText]:
        builds.append("again")
        return DOCUMENTS

    for stamp in ("one", "one", "two", "two"):
        with TextIndex(documents, WEIGHTS, file=file, stamp=stamp) as index:
            assert ids(index, "search the logs") == ["logs"]
    assert len(builds) == 2
    assert [path.name for path in file.parent.iterdir()] == ["index.db"], "no temporary file is left"


def test_a_cached_index_of_other_fields_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    TextIndex(lambda: DOCUMENTS, WEIGHTS, file=file, stamp="one").close()
    with TextIndex(lambda: DOCUMENTS, {"order": 1.0}, file=file, stamp="one") as index:
        assert ids(index, "pytest") == []


@pytest.mark.parametrize("damage", ["empty", "garbage", "cut", "middle", "directory"])
def test_a_damaged_cache_file_is_replaced(tmp_path: Path, damage: str) -> None:
    many = [*DOCUMENTS, *(IndexedText(f"z{n}", {"keywords": f"word{n} other{n}"}) for n in range(500))]
    file = tmp_path / "index.db"
    TextIndex(lambda: many, WEIGHTS, file=file, stamp="one").close()
    good = file.read_bytes()
    if damage == "empty":
        file.write_bytes(b"")
    elif damage == "garbage":
        file.write_bytes(b"not a database" * 1000)
    elif damage == "cut":
        file.write_bytes(good[: len(good) // 2])
    elif damage == "middle":
        file.write_bytes(good[:8192] + bytes(len(good) - 8192))
    else:
        file.unlink()
        file.mkdir()
    with TextIndex(lambda: many, WEIGHTS, file=file, stamp="one") as index:
        assert ids(index, "search the logs") == ["logs"]
        assert ids(index, "word77 other77") == ["z77"]


def test_a_cache_file_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    file = tmp_path / "file" / "index.db"
    with TextIndex(lambda: DOCUMENTS, WEIGHTS, file=file, stamp="one") as index:
        assert ids(index, "search the logs") == ["logs"]


def test_the_path_of_the_cache_file_may_have_any_characters(tmp_path: Path) -> None:
    file = tmp_path / "a ?mode=memory#%41é" / "index.db"
    TextIndex(lambda: DOCUMENTS, WEIGHTS, file=file, stamp="one").close()
    assert file.is_file()


@pytest.fixture(scope="module")
def shared() -> Iterator[TextIndex]:
    with TextIndex(lambda: DOCUMENTS, WEIGHTS) as text_index:
        yield text_index


@given(st.text() | st.text("\"*^:(){}+-ORANDNOTEdeploylogs tests.'\n", max_size=200))
def test_any_text_can_be_searched_for(shared: TextIndex, text: str) -> None:
    hits = shared.search(text, floor=0)
    assert hits == shared.search(text, floor=0)
    assert all(0 < hit.score <= 1 for hit in hits)
