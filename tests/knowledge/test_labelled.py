"""How good routing by words is, on questions with the topic that each of them is about."""

from __future__ import annotations

from pathlib import Path

from samuel.knowledge.route import route

from .labelled_base import labelled


def test_most_questions_find_their_topic_and_the_others_nothing(tmp_path: Path) -> None:
    one = labelled(tmp_path)
    found = [(route(one.base, text=text).documents[:1], wants) for text, wants in one.prompts]
    right = sum(bool(first) and first[0].path.startswith(f"{wants}/") for first, wants in found)
    assert right / len(found) >= 0.75
    assert [text for text in one.unrelated if route(one.base, text=text).documents] == []


def test_the_labelled_knowledge_base_is_complete(tmp_path: Path) -> None:
    one = labelled(tmp_path)
    assert one.base.problems == ()
    assert len(one.base.indexes) >= 10
    assert {wants for _, wants in one.prompts} == {index.topic for index in one.base.indexes}
    assert len({text for text, _ in one.prompts}) >= 40
