"""How well the words of a question fit topics and routes, by full-text search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.routing.knowledge.model import Route, TopicEntry
from samuel.routing.knowledge.question import KnowledgeQuestion
from samuel.routing.relevance.confidence import FLOOR
from samuel.routing.relevance.index import IndexedText, TextIndex

TOPIC = {"topic": 1.0, "summary": 1.0, "when": 0.8}
"""The weight of a word by the part of a topic: its name, its summary, the situations of its routes."""

SITUATION = {"when": 1.0, "usage": 0.7}
"""The weight of a word by the part of a route: when to use it, what its documents are for."""

COMMAND = 0.7
"""The weight of the user's last command relative to the text: it may be about something else."""

MOST = 40  # topics, or routes


class Fit(NamedTuple):
    score: float = 0.0
    """0 to 1."""
    words: tuple[str, ...] = ()


class IndexFile(NamedTuple):
    """The file of the topics' index, and a stamp that changes when a topic changes."""

    file: Path
    stamp: str


def fitting_topics(
    topics: Sequence[tuple[TopicEntry, Sequence[Route]]],
    question: KnowledgeQuestion,
    among: Collection[int],
    index_file: IndexFile | None,
) -> dict[int, Fit]:
    """How well the question fits the topics at the positions `among`; those that fit too little are left out."""

    def documents() -> Iterable[IndexedText]:
        for at, (index, routes) in enumerate(topics):
            fields = {
                "topic": f"{index.topic}\n{index.scope}",
                "summary": index.summary,
                "when": "\n".join(route.when_to_use for route in routes),
            }
            yield IndexedText(_id(at), fields)

    if index_file is None:
        text_index = TextIndex.build(documents(), TOPIC, answers_questions=True)
    else:
        text_index = TextIndex.cached(index_file.file, index_file.stamp, documents, TOPIC, answers_questions=True)
    with text_index:
        return _fitting(text_index, question, FLOOR, lambda id: int(id) in among)


def fitting_routes(routes: Sequence[Route], question: KnowledgeQuestion) -> dict[int, Fit]:
    """How well the question fits routes, by position. Their topic is chosen already, so any shared word counts."""
    fields = (
        {"when": route.when_to_use, "usage": "\n".join(related.doc_usage for related in route.related_docs)}
        for route in routes
    )
    documents = (IndexedText(_id(at), route_fields) for at, route_fields in enumerate(fields))
    with TextIndex.build(documents, SITUATION, answers_questions=True) as text_index:
        return _fitting(text_index, question, 0.0, lambda id: True)


def _id(at: int) -> str:
    """The position with leading zeros, so that equal scores stay in order."""
    return f"{at:06}"


def _fitting(
    text_index: TextIndex, question: KnowledgeQuestion, floor: float, admits: Callable[[str], bool]
) -> dict[int, Fit]:
    fits: dict[int, Fit] = {}
    for text, worth in ((question.text, 1.0), (question.command, COMMAND)):
        for hit in text_index.search(text, MOST, floor=floor / worth, admits=admits) if text else ():
            matched = tuple(dict.fromkeys(word for field_words in hit.matched.values() for word in field_words))
            fit = Fit(hit.score * worth, matched)
            if int(hit.id) not in fits or fits[int(hit.id)].score < fit.score:
                fits[int(hit.id)] = fit
    return fits
