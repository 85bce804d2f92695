"""Choose topics: those that an intent names, exactly or almost, or those that the words fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.nearest import nearest_name
from samuel.base.printable import shorten
from samuel.routing.knowledge.model import Route, RouteFile, TopicEntry
from samuel.routing.knowledge.question import KnowledgeQuestion
from samuel.routing.relevance.confidence import FLOOR
from samuel.routing.relevance.index import IndexedText, TextIndex, admit_all

EXACTLY, PARTLY, NEARLY = 0.5, 0.4, 0.3
"""The score for both scope and topic as requested, for the only one that was named, for the nearest match."""

BY_WORDS = 0.5  # the score for a topic that the words fit entirely

TOPIC = {"topic": 1.0, "summary": 1.0, "when": 0.8}
"""The weight of a word by the part of a topic: its name, its summary, the situations of its routes."""

SITUATION = {"when": 1.0, "usage": 0.7}
"""The weight of a word by the part of a route: when to use it, what its documents are for."""

COMMAND = 0.7
"""The weight of the user's last command relative to the text: it may be about something else."""

ALIKE = 0.75
LONGEST = 200  # characters of a name that are compared
MOST_LISTED = 6
MOST_FITTING = 40  # topics, or routes


class Topic(NamedTuple):
    under: TopicEntry
    worth: float
    reason: str


class NamedTopics(NamedTuple):
    indexes: Sequence[TopicEntry]
    """The topics to search: all of them if none is named."""
    worth: float = 0.0
    """0 if the choice is left to the words."""
    parts: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()


def covers(scope: str, other: str) -> bool:
    """Whether `other` is `scope` or below it: `execution` covers `execution.quality_gates`."""
    return other == scope or other.startswith(f"{scope}.")


def topics_by_name(indexes: Sequence[TopicEntry], scope: str, topic: str) -> NamedTopics:
    """The topics of a scope, of a name, or of both."""
    parts = tuple(kind for kind, name in (("scope", scope), ("topic", topic)) if name)
    matching, unlike_scope = _of_scope(indexes, scope) if scope else (indexes, "")
    searched = matching or indexes
    matching, unlike_topic = _of_topic(indexes, searched, topic) if topic else (matching, "")
    reported = tuple(note for note in (unlike_scope, unlike_topic) if note)
    if not matching or not parts:  # an unknown topic: the words decide within its scope
        return NamedTopics(searched, reported=reported)
    worth = NEARLY if reported else EXACTLY if len(parts) == 2 else PARTLY
    return NamedTopics(matching, worth, parts, reported)


def all_topics(place: NamedTopics) -> list[Topic]:
    return [Topic(index, place.worth, _name_reason(place, index)) for index in place.indexes]


def topics_by_words(
    place: NamedTopics,
    indexes: Sequence[TopicEntry],
    files: Mapping[str, RouteFile],
    question: KnowledgeQuestion,
    index_file: Path | None,
    stamp: str,
) -> list[Topic]:
    """Of the topics in `place`, those that the question fits. `indexes` are all topics.

    The full-text index is cached in `index_file`. `stamp` changes when a topic or its routes change.
    """

    def documents() -> Iterable[IndexedText]:
        for at, index in enumerate(indexes):
            situations = "\n".join(route.when_to_use for route in files[index.route_file].routes)
            fields = {"topic": f"{index.topic}\n{index.scope}", "summary": index.summary, "when": situations}
            yield IndexedText(_id(at), fields)

    there = set(place.indexes)
    inside = {_id(at) for at, index in enumerate(indexes) if index in there}
    with TextIndex(documents, TOPIC, answers_questions=True, file=index_file, stamp=stamp) as text_index:
        fits = _fitting(text_index, question, FLOOR, inside.__contains__)
    return [Topic(indexes[at], BY_WORDS * fit.score, _words_reason(indexes[at], fit)) for at, fit in fits.items()]


class Fit(NamedTuple):
    score: float = 0.0
    """0 to 1."""
    words: tuple[str, ...] = ()


def fitting_routes(routes: Sequence[Route], question: KnowledgeQuestion) -> dict[int, Fit]:
    """How well the question fits routes, by position. Their topic is chosen already, so any shared word counts."""

    def documents() -> Iterable[IndexedText]:
        for at, route in enumerate(routes):
            usage = "\n".join(related.doc_usage for related in route.related_docs)
            yield IndexedText(_id(at), {"when": route.when_to_use, "usage": usage})

    with TextIndex(documents, SITUATION, answers_questions=True) as text_index:
        return _fitting(text_index, question, 0.0, admit_all)


def _id(at: int) -> str:
    """The position with leading zeros, so that equal scores stay in order."""
    return f"{at:06}"


def _fitting(
    text_index: TextIndex, question: KnowledgeQuestion, floor: float, admits: Callable[[str], bool]
) -> dict[int, Fit]:
    """How well the question fits, by position; what fits less than `floor` is left out."""
    fits: dict[int, Fit] = {}
    for text, worth in ((question.text, 1.0), (question.command, COMMAND)):
        for hit in text_index.search(text, MOST_FITTING, floor=floor / worth, admits=admits) if text else ():
            matched = tuple(dict.fromkeys(word for field_words in hit.matched.values() for word in field_words))
            fit = Fit(hit.score * worth, matched)
            if int(hit.id) not in fits or fits[int(hit.id)].score < fit.score:
                fits[int(hit.id)] = fit
    return fits


def _words_reason(index: TopicEntry, fit: Fit) -> str:
    return f"the topic `{index.topic}` of `{index.scope}` fits {listed(fit.words)}"


def _name_reason(place: NamedTopics, index: TopicEntry) -> str:
    names = {"scope": index.scope, "topic": index.topic}
    what = " and ".join(f"{kind} `{names[kind]}`" for kind in place.parts)
    return f"{what}: {'the nearest match' if place.reported else 'as requested'}"


def _of_scope(indexes: Sequence[TopicEntry], scope: str) -> tuple[Sequence[TopicEntry], str]:
    if same := [index for index in indexes if covers(scope, index.scope)]:
        return same, ""
    near = _nearest(scope, (index.scope for index in indexes))
    note = f"there is no scope `{shorten(scope)}`" + (f"; the nearest is `{near}`" if near else "")
    return [index for index in indexes if near and index.scope == near], note


def _of_topic(
    indexes: Sequence[TopicEntry], inside: Sequence[TopicEntry], topic: str
) -> tuple[Sequence[TopicEntry], str]:
    """The topics of this name in the scope; else in other scopes; else the nearest name in the scope."""
    if same := [index for index in inside if index.topic == topic]:
        return same, ""
    if other_scopes := [index for index in indexes if index.topic == topic]:
        return other_scopes, f"the topic `{topic}` is in the scope {listed(index.scope for index in other_scopes)}"
    near = _nearest(topic, (index.topic for index in inside))
    note = f"there is no topic `{shorten(topic)}` there" + (f"; the nearest is `{near}`" if near else "")
    return [index for index in inside if near and index.topic == near], note


def _nearest(name: str, names: Iterable[str]) -> str:
    """The most similar name. Capitals, spaces and hyphens do not count: `Pre-commit` is `pre_commit`."""
    plain = {_plain(original): original for original in sorted(names, reverse=True)}
    return plain.get(nearest_name(_plain(name), plain, ALIKE), "")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name[:LONGEST].casefold()).strip()


def listed(names: Iterable[str]) -> str:
    """The first few names as `a`, `b`, for a message."""
    distinct = [f"`{name}`" for name in dict.fromkeys(names)]
    return ", ".join(distinct[:MOST_LISTED]) + (", …" if len(distinct) > MOST_LISTED else "")
