"""How well words fit topics, and the routes of a topic: full-text relevance over what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from samuel.knowledge.model import Index, Route
from samuel.relevance.confidence import FLOOR
from samuel.relevance.index import Document
from samuel.relevance.index import Index as Words

TOPIC = {"topic": 1.0, "summary": 1.0, "when": 1.0}
"""What a word is worth in which part of a topic: in its name, its summary, the situations of its routes."""

SITUATION = {"when": 1.0, "usage": 0.7}
"""And in which part of a route: when to use it, what its documents are for."""

MOST = 40  # topics, or routes


class Fit(NamedTuple):
    score: float = 0.0
    """0 to 1."""
    words: tuple[str, ...] = ()


def fitting_topics(topics: Sequence[tuple[Index, Sequence[Route]]], question: str) -> dict[int, Fit]:
    """By position. What fits too little is left out, so that words about something else find nothing."""
    fields = (
        {
            "topic": f"{index.topic}\n{index.scope}",
            "summary": index.summary,
            "when": "\n".join(route.when_to_use for route in routes),
        }
        for index, routes in topics
    )
    return _fitting(fields, TOPIC, question, FLOOR)


def fitting_routes(routes: Sequence[Route], question: str) -> dict[int, Fit]:
    """By position. Their topic is settled already, so any word they share is a hint."""
    fields = (
        {"when": route.when_to_use, "usage": "\n".join(related.doc_usage for related in route.related_docs)}
        for route in routes
    )
    return _fitting(fields, SITUATION, question, 0.0)


def _fitting(
    texts: Iterable[Mapping[str, str]], weights: Mapping[str, float], question: str, floor: float
) -> dict[int, Fit]:
    # Numbers of one length, so that those that fit alike stay in their order.
    words = Words.build((Document(f"{at:06}", fields) for at, fields in enumerate(texts)), weights)
    try:
        hits = words.search(question, MOST, floor=floor)
    finally:
        words.close()
    return {
        int(hit.id): Fit(hit.score, tuple(dict.fromkeys(word for found in hit.matched.values() for word in found)))
        for hit in hits
    }
