"""Find the one to five documents for a question, each with its reasons, or say that nothing fits.

A score is a sum: the topic is named, or the words fit it; the words fit the situation of the route; the stage is
right; a hook suggests the document. The same base and the same question always give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache as memoize
from pathlib import Path
from typing import Any, NamedTuple

from samuel.routing.knowledge.model import FILE, DocumentHeader, KnowledgeBase, Route, RouteFile
from samuel.routing.knowledge.question import (
    Hint,
    KnowledgeQuestion,
    check_suggestions,
    intent_of,
    question_of,
    suggested_of,
)
from samuel.routing.knowledge.reading import RouteCache, read_document
from samuel.routing.knowledge.topics import (
    Fit,
    NamedTopics,
    Topic,
    all_topics,
    fitting_routes,
    listed,
    topics_by_name,
    topics_by_words,
)

MOST = 5
WORDS = 0.35  # for a situation that the words describe entirely
STAGE = 0.15
SUGGESTED = 0.3
NEAR_THE_BEST = 0.7
"""Documents below this part of the best score are left out: what is offered gets read, whether it helps or not."""

MOST_CONSIDERED = 300  # documents
MOST_BROKEN = 10  # files that are reported one by one


class RoutedDocument(NamedTuple):
    path: str
    """From the routing root."""
    score: float
    reasons: tuple[str, ...]
    doc_usage: str = ""
    stage: tuple[str, ...] = ()


class KnowledgeRouting(NamedTuple):
    documents: tuple[RoutedDocument, ...]
    """The best first."""
    reported: tuple[str, ...]
    """Problems with the question, the suggestions and the files."""
    nothing: str
    """Why there is no document; "" where there is one."""


def route(
    base: KnowledgeBase,
    *,
    text: str = "",
    intent: Mapping[str, Any] | None = None,
    suggested: Iterable[Mapping[str, Any]] = (),
    cache: Path | None = None,
) -> KnowledgeRouting:
    """The documents for a text, a hook's `new_intent`, or both; UsageError for an invalid intent.

    `suggested` are documents that hooks name: they rank higher, and are offered even if no route leads to them.
    `cache` is a directory for route files that were read before.
    """
    parsed_intent = intent_of(intent)
    hints, refused = check_suggestions(base.root, suggested_of(suggested))
    scope, topic, stage = parsed_intent.scope or "", parsed_intent.topic or "", parsed_intent.stage or ""
    question = question_of(text, parsed_intent)
    place = topics_by_name(base.indexes, scope, topic)
    topics, files = _wanted_topics(base, place, question, RouteCache(base, cache))
    routed, missing = _along(base, _legs(topics, files, question), stage)
    chosen = _joined(routed, hints, stage)[:MOST]
    return KnowledgeRouting(
        tuple(chosen),
        (*place.reported, *refused, *missing, *_broken(base, files, topics)),
        "" if chosen else _nothing(base, topics, has_question=bool(question or scope or topic or refused)),
    )


def _wanted_topics(
    base: KnowledgeBase, place: NamedTopics, question: KnowledgeQuestion, route_cache: RouteCache
) -> tuple[list[Topic], dict[str, RouteFile]]:
    """The topics that were named, or else those that the question fits; and the route files that were read."""
    paths = [index.route_file for index in (place.indexes if place.worth or not question else base.indexes)]
    files = route_cache.read(paths)
    if place.worth:
        return all_topics(place), files
    if not question:
        return [], files
    index, stamp = route_cache.index, route_cache.stamp
    return topics_by_words(place, base.indexes, files, question, index, stamp), files


class _Leg(NamedTuple):
    """One route of a wanted topic, with its score so far."""

    route: Route
    score: float
    reasons: tuple[str, ...]


def _legs(topics: Sequence[Topic], files: Mapping[str, RouteFile], question: KnowledgeQuestion) -> list[_Leg]:
    pairs = [(topic, topic_route) for topic in topics for topic_route in files[topic.under.route_file].routes]
    fits = fitting_routes([topic_route for _, topic_route in pairs], question) if question else {}
    legs = []
    for at, (topic, topic_route) in enumerate(pairs):
        fit = fits.get(at, Fit())
        why = (f"the situation fits {listed(fit.words)}: {topic_route.when_to_use}",) if fit.words else ()
        legs.append(_Leg(topic_route, topic.worth + WORDS * fit.score, (topic.reason, *why)))
    return sorted(legs, key=lambda leg: -leg.score)  # stable: routes with equal scores stay in file order


def _along(base: KnowledgeBase, legs: Sequence[_Leg], stage: str) -> tuple[list[RoutedDocument], list[str]]:
    """The documents that the routes lead to, each along its best route; and those that cannot be read."""
    read = memoize(lambda path: read_document(base.root, path))
    best: dict[str, RoutedDocument] = {}
    missing: dict[str, None] = {}
    for leg in legs:
        for related in leg.route.related_docs:
            document: DocumentHeader = read(related.path)
            if not document.readable:
                missing[str(document.problems[0])] = None
                continue
            stages = related.stage or document.stages
            routed = RoutedDocument(related.path, leg.score, leg.reasons, related.doc_usage, stages)
            routed = _staged(routed, stage)
            if related.path not in best or best[related.path].score < routed.score:
                best[related.path] = routed
        if len(best) >= MOST_CONSIDERED:
            break
    return list(best.values()), list(missing)


def _staged(document: RoutedDocument, stage: str) -> RoutedDocument:
    if not stage or stage not in document.stage:
        return document
    return document._replace(score=document.score + STAGE, reasons=(*document.reasons, f"for the stage `{stage}`"))


def _joined(routed: Sequence[RoutedDocument], hints: Sequence[Hint], stage: str) -> list[RoutedDocument]:
    """The best of the routes' documents and all that hooks suggest, the best first."""
    least = NEAR_THE_BEST * max((document.score for document in routed), default=0.0)
    chosen = {document.path: document for document in routed if document.score >= least}
    by_path = {document.path: document for document in routed}
    for hint in hints:
        document = by_path.get(hint.path) or _staged(RoutedDocument(hint.path, 0.0, (), "", hint.stage), stage)
        chosen[hint.path] = document._replace(
            score=document.score + SUGGESTED, reasons=(*document.reasons, hint.reason)
        )
    rounded = (document._replace(score=min(1.0, round(document.score, 3))) for document in chosen.values())
    return sorted(rounded, key=lambda document: -document.score)  # stable, as above


def _broken(base: KnowledgeBase, files: Mapping[str, RouteFile], topics: Sequence[Topic]) -> list[str]:
    """Route files that cannot be used, and those of the wanted topics that have problems."""
    broken = [str(file.problems[0]) for file in files.values() if file.problems and not file.routes]
    reports = broken[:MOST_BROKEN]
    if len(broken) > MOST_BROKEN:
        reports.append(f"{len(broken) - MOST_BROKEN} more route files cannot be used")
    used = dict.fromkeys(topic.under.route_file for topic in topics)
    reports += [f"{base.root / path} has problems" for path in used if files[path].problems and files[path].routes]
    if base.problems:
        reports.append(f"{base.root / FILE} has problems")
    return [*reports, "`samuel knowledge lint` shows all of them"] if reports else []


def _nothing(base: KnowledgeBase, topics: Sequence[Topic], *, has_question: bool) -> str:
    if not has_question:
        return "give a text or an intent"
    if not base.indexes:
        return f"{FILE} names no topic that can be used"
    if topics:
        return f"{listed(topic.under.topic for topic in topics)} leads to no document that can be used"
    return f"none of the {len(base.indexes)} topics fits the question"
