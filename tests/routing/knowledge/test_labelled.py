"""How good routing by words is, on questions with the topic that each of them is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.routing.knowledge.route import route

from .labelled_base import labelled


@pytest.mark.slow
def test_most_questions_find_their_topic_and_the_others_nothing(tmp_path: Path) -> None:
    labelled_base = labelled(tmp_path)
    first_documents = [
        (route(labelled_base.base, text=text).documents[:1], wants) for text, wants in labelled_base.prompts
    ]
    right = sum(bool(first) and first[0].path.startswith(f"{wants}/") for first, wants in first_documents)
    assert right / len(first_documents) >= 0.75
    assert [text for text in labelled_base.unrelated if route(labelled_base.base, text=text).documents] == []


def test_the_labelled_knowledge_base_is_complete(tmp_path: Path) -> None:
    labelled_base = labelled(tmp_path)
    assert labelled_base.base.problems == ()
    assert len(labelled_base.base.indexes) >= 10
    assert {wants for _, wants in labelled_base.prompts} == {index.topic for index in labelled_base.base.indexes}
    assert len({text for text, _ in labelled_base.prompts}) >= 40
