"""Which topics are wanted: those an intent names, exactly or nearly; or those that the words fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from samuel.knowledge.model import RouteFile, TopicEntry
from samuel.knowledge.question import KnowledgeQuestion
from samuel.knowledge.ranking import Fit, IndexFile, fitting_topics
from samuel.nearest import nearest_name
from samuel.printable import shorten

EXACTLY, PARTLY, NEARLY = 0.5, 0.4, 0.3
"""What it is worth that both scope and topic are those asked for, that the only one named is, that one is near."""

BY_WORDS = 0.5  # and that the words of a question fit entirely

ALIKE = 0.75
LONGEST = 200  # characters of a name that are compared
MOST_LISTED = 6


class Topic(NamedTuple):
    under: TopicEntry
    worth: float
    reason: str


class Named(NamedTuple):
    indexes: Sequence[TopicEntry]
    """Where to look: all of them where none is named."""
    worth: float = 0.0
    """0 where only words can tell."""
    asked: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()


def covers(scope: str, other: str) -> bool:
    """Whether `other` is `scope` or below it: `execution` covers `execution.quality_gates`."""
    return other == scope or other.startswith(f"{scope}.")


def named(indexes: Sequence[TopicEntry], scope: str, topic: str) -> Named:
    """The indexes of a scope and of a topic, where they are given."""
    asked = tuple(kind for kind, name in (("scope", scope), ("topic", topic)) if name)
    found, unlike_scope = _of_scope(indexes, scope) if scope else (indexes, "")
    place = found or indexes
    found, unlike_topic = _of_topic(indexes, place, topic) if topic else (found, "")
    reported = tuple(note for note in (unlike_scope, unlike_topic) if note)
    if not found or not asked:  # a topic that is not there: what its scope holds is left to the words
        return Named(place, reported=reported)
    worth = NEARLY if reported else EXACTLY if len(asked) == 2 else PARTLY
    return Named(found, worth, asked, reported)


def as_named(place: Named) -> list[Topic]:
    return [Topic(index, place.worth, _as_asked(place, index)) for index in place.indexes]


def by_words(
    place: Named,
    indexes: Sequence[TopicEntry],
    files: Mapping[str, RouteFile],
    question: KnowledgeQuestion,
    kept: IndexFile | None,
) -> list[Topic]:
    """Of the topics in `place`, those that the question fits; `indexes` are all there are."""
    there = set(place.indexes)
    inside = {at for at, index in enumerate(indexes) if index in there}
    fits = fitting_topics([(index, files[index.route_file].routes) for index in indexes], question, inside, kept)
    return [Topic(indexes[at], BY_WORDS * fit.score, _as_said(indexes[at], fit)) for at, fit in fits.items()]


def _as_said(index: TopicEntry, fit: Fit) -> str:
    return f"the topic `{index.topic}` of `{index.scope}` fits {listed(fit.words)}"


def _as_asked(place: Named, index: TopicEntry) -> str:
    names = {"scope": index.scope, "topic": index.topic}
    what = " and ".join(f"{kind} `{names[kind]}`" for kind in place.asked)
    return f"{what}: {'the nearest to what is asked for' if place.reported else 'as asked for'}"


def _of_scope(indexes: Sequence[TopicEntry], scope: str) -> tuple[Sequence[TopicEntry], str]:
    if same := [index for index in indexes if covers(scope, index.scope)]:
        return same, ""
    near = _nearest(scope, (index.scope for index in indexes))
    note = f"there is no scope `{shorten(scope)}`" + (f"; the nearest is `{near}`" if near else "")
    return [index for index in indexes if near and index.scope == near], note


def _of_topic(
    indexes: Sequence[TopicEntry], inside: Sequence[TopicEntry], topic: str
) -> tuple[Sequence[TopicEntry], str]:
    """In the scope; else of just that name elsewhere; else the nearest name in the scope."""
    if same := [index for index in inside if index.topic == topic]:
        return same, ""
    if elsewhere := [index for index in indexes if index.topic == topic]:
        return elsewhere, f"the topic `{topic}` is in the scope {listed(index.scope for index in elsewhere)}"
    near = _nearest(topic, (index.topic for index in inside))
    note = f"there is no topic `{shorten(topic)}` there" + (f"; the nearest is `{near}`" if near else "")
    return [index for index in inside if near and index.topic == near], note


def _nearest(name: str, names: Iterable[str]) -> str:
    """Capitals, spaces and hyphens make no difference: `Pre-commit checks` is next to `pre_commit_checks`."""
    plain = {_plain(one): one for one in sorted(names, reverse=True)}
    return plain.get(nearest_name(_plain(name), plain, ALIKE), "")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name[:LONGEST].casefold()).strip()


def listed(names: Iterable[str]) -> str:
    """`a`, `b`: for a message, so not too many of them."""
    distinct = [f"`{name}`" for name in dict.fromkeys(names)]
    return ", ".join(distinct[:MOST_LISTED]) + (", …" if len(distinct) > MOST_LISTED else "")
