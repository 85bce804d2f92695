"""From what is wanted to one to five documents, each with its reasons; or to the plain answer that nothing fits.

A score is a sum of evidence: the topic is named, or the words fit it; they fit the situation of the route; the
stage is right; a hook suggests it. The same base and the same question always give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache as remembered
from pathlib import Path
from typing import Any, NamedTuple

from samuel.knowledge.documents import read_document
from samuel.knowledge.hints import Hint, examined
from samuel.knowledge.model import FILE, DocumentHeader, KnowledgeBase, Route, RouteFile
from samuel.knowledge.question import KnowledgeQuestion, intent_of, question_of, suggested_of
from samuel.knowledge.ranking import Fit, IndexFile, fitting_routes
from samuel.knowledge.route_cache import RouteCache
from samuel.knowledge.topics import Named, Topic, as_named, by_words, listed, named

MOST = 5
WORDS = 0.35  # what a situation that the words describe entirely is worth
STAGE = 0.15
SUGGESTED = 0.3
NEAR_THE_BEST = 0.7
"""What has a smaller part of the best score is left out: what is offered gets read, whether it helps or not."""

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
    """What could not be taken as it was asked for, suggested or written."""
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
    """The documents for a text, a hook's `new_intent`, or both; UsageError for an intent that is none.

    `suggested` are documents that hooks name: they rank higher, and are offered even if no route leads to them.
    What has not changed since the last time comes from `cache`, a directory.
    """
    wanted = intent_of(intent)
    hints, refused = examined(base.root, suggested_of(suggested))
    scope, topic, stage = wanted.scope or "", wanted.topic or "", wanted.stage or ""
    question = question_of(text, wanted)
    place = named(base.indexes, scope, topic)
    topics, files = _wanted(base, place, question, RouteCache(base.root, cache))
    routed, missing = _along(base, _legs(topics, files, question), stage)
    chosen = _joined(routed, hints, stage)[:MOST]
    return KnowledgeRouting(
        tuple(chosen),
        (*place.reported, *refused, *missing, *_broken(base, files, topics)),
        "" if chosen else _nothing(base, topics, asked=bool(question or scope or topic or refused)),
    )


def _wanted(
    base: KnowledgeBase, place: Named, question: KnowledgeQuestion, known: RouteCache
) -> tuple[list[Topic], dict[str, RouteFile]]:
    """The topics that were named, or else those that the question fits; and the route files, as far as read."""
    paths = [index.route_file for index in (place.indexes if place.worth or not question else base.indexes)]
    files = known.read(paths)
    if place.worth:
        return as_named(place), files
    if not question:
        return [], files
    kept = IndexFile(known.index, known.stamp(base.indexes)) if known.index else None
    return by_words(place, base.indexes, files, question, kept), files


class _Leg(NamedTuple):
    """One route of a topic that is wanted, with what speaks for it so far."""

    route: Route
    score: float
    reasons: tuple[str, ...]


def _legs(topics: Sequence[Topic], files: Mapping[str, RouteFile], question: KnowledgeQuestion) -> list[_Leg]:
    pairs = [(topic, one) for topic in topics for one in files[topic.under.route_file].routes]
    fits = fitting_routes([one for _, one in pairs], question) if question else {}
    legs = []
    for at, (topic, one) in enumerate(pairs):
        fit = fits.get(at, Fit())
        why = (f"the situation fits {listed(fit.words)}: {one.when_to_use}",) if fit.words else ()
        legs.append(_Leg(one, topic.worth + WORDS * fit.score, (topic.reason, *why)))
    return sorted(legs, key=lambda leg: -leg.score)  # stable: those alike stay in the order they are written in


def _along(base: KnowledgeBase, legs: Sequence[_Leg], stage: str) -> tuple[list[RoutedDocument], list[str]]:
    """The documents that the routes lead to, each along its best route; and those that cannot be read."""
    read = remembered(lambda path: read_document(base.root, path))
    best: dict[str, RoutedDocument] = {}
    missing: dict[str, None] = {}
    for leg in legs:
        for related in leg.route.related_docs:
            document: DocumentHeader = read(related.path)
            if not document.readable:
                missing[str(document.problems[0])] = None
                continue
            found = _staged(
                RoutedDocument(
                    related.path, leg.score, leg.reasons, related.doc_usage, related.stage or document.stages
                ),
                stage,
            )
            if related.path not in best or best[related.path].score < found.score:
                best[related.path] = found
        if len(best) >= MOST_CONSIDERED:
            break
    return list(best.values()), list(missing)


def _staged(found: RoutedDocument, stage: str) -> RoutedDocument:
    if not stage or stage not in found.stage:
        return found
    return found._replace(score=found.score + STAGE, reasons=(*found.reasons, f"for the stage `{stage}`"))


def _joined(routed: Sequence[RoutedDocument], hints: Sequence[Hint], stage: str) -> list[RoutedDocument]:
    """The best of the routes' documents and all that hooks suggest, the best first."""
    least = NEAR_THE_BEST * max((found.score for found in routed), default=0.0)
    chosen = {found.path: found for found in routed if found.score >= least}
    known = {found.path: found for found in routed}
    for hint in hints:
        found = known.get(hint.path) or _staged(RoutedDocument(hint.path, 0.0, (), "", hint.stage), stage)
        chosen[hint.path] = found._replace(score=found.score + SUGGESTED, reasons=(*found.reasons, hint.reason))
    rounded = (found._replace(score=min(1.0, round(found.score, 3))) for found in chosen.values())
    return sorted(rounded, key=lambda found: -found.score)  # stable, as above


def _broken(base: KnowledgeBase, files: Mapping[str, RouteFile], topics: Sequence[Topic]) -> list[str]:
    """Files that cannot be used at all, and those of the topics that matter with anything wrong in them."""
    broken = [str(file.problems[0]) for file in files.values() if file.problems and not file.routes]
    told = broken[:MOST_BROKEN]
    if len(broken) > MOST_BROKEN:
        told.append(f"{len(broken) - MOST_BROKEN} more route files cannot be used")
    used = dict.fromkeys(topic.under.route_file for topic in topics)
    told += [f"{base.root / path} has problems" for path in used if files[path].problems and files[path].routes]
    if base.problems:
        told.append(f"{base.root / FILE} has problems")
    return [*told, "`samuel knowledge lint` shows all of them"] if told else []


def _nothing(base: KnowledgeBase, topics: Sequence[Topic], *, asked: bool) -> str:
    if not asked:
        return "nothing is asked: give a text or an intent"
    if not base.indexes:
        return f"{FILE} names no topic that can be used"
    if topics:
        return f"{listed(topic.under.topic for topic in topics)} leads to no document that can be used"
    return f"none of the {len(base.indexes)} topics fits what is asked"
