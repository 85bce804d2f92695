"""How well words fit topics, and the routes of a topic: full-text relevance over what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.knowledge.model import Route, TopicEntry
from samuel.knowledge.question import KnowledgeQuestion
from samuel.relevance.confidence import FLOOR
from samuel.relevance.index import IndexedText
from samuel.relevance.index import TextIndex as Words

TOPIC = {"topic": 1.0, "summary": 1.0, "when": 0.8}
"""What a word is worth in which part of a topic: in its name, its summary, the many situations of its routes."""

SITUATION = {"when": 1.0, "usage": 0.7}
"""And in which part of a route: when to use it, what its documents are for."""

COMMAND = 0.7
"""What the last command of a person is worth, beside what they say: it may be about something else."""

MOST = 40  # topics, or routes


class Fit(NamedTuple):
    score: float = 0.0
    """0 to 1."""
    words: tuple[str, ...] = ()


class IndexFile(NamedTuple):
    """Where the index of the topics is kept, and what changes when any of them does."""

    file: Path
    stamp: str


def fitting_topics(
    topics: Sequence[tuple[TopicEntry, Sequence[Route]]],
    question: KnowledgeQuestion,
    among: Collection[int],
    kept: IndexFile | None,
) -> dict[int, Fit]:
    """Those of `among`, by position. What fits too little is left out: words about something else find nothing."""

    def documents() -> Iterable[IndexedText]:
        for at, (index, routes) in enumerate(topics):
            fields = {
                "topic": f"{index.topic}\n{index.scope}",
                "summary": index.summary,
                "when": "\n".join(route.when_to_use for route in routes),
            }
            yield IndexedText(_id(at), fields)

    if kept is None:
        words = Words.build(documents(), TOPIC, answers_questions=True)
    else:
        words = Words.cached(kept.file, kept.stamp, documents, TOPIC, answers_questions=True)
    with words:
        return _fitting(words, question, FLOOR, lambda id: int(id) in among)


def fitting_routes(routes: Sequence[Route], question: KnowledgeQuestion) -> dict[int, Fit]:
    """By position. Their topic is settled already, so any word they share is a hint."""
    fields = (
        {"when": route.when_to_use, "usage": "\n".join(related.doc_usage for related in route.related_docs)}
        for route in routes
    )
    documents = (IndexedText(_id(at), said) for at, said in enumerate(fields))
    with Words.build(documents, SITUATION, answers_questions=True) as words:
        return _fitting(words, question, 0.0, lambda id: True)


def _id(at: int) -> str:
    """Numbers of one length, so that those that fit alike stay in their order."""
    return f"{at:06}"


def _fitting(
    words: Words, question: KnowledgeQuestion, floor: float, admits: Callable[[str], bool]
) -> dict[int, Fit]:
    found: dict[int, Fit] = {}
    for text, worth in ((question.text, 1.0), (question.command, COMMAND)):
        for hit in words.search(text, MOST, floor=floor / worth, admits=admits) if text else ():
            said = tuple(dict.fromkeys(word for here in hit.matched.values() for word in here))
            fit = Fit(hit.score * worth, said)
            if int(hit.id) not in found or found[int(hit.id)].score < fit.score:
                found[int(hit.id)] = fit
    return found
