"""Find the abilities that a text asks for: high-level ones first, then low-level ones, each by score.

Full-text search decides. Suggestions of hooks, and frequent use or a hook's signal about it, raise the score, each
within a limit; environment, scope and negative keywords rule abilities out. The same inputs always give the same
answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from samuel.base.nearest import SpellingHints
from samuel.base.printable import shorten
from samuel.base.wording import plural
from samuel.events.session import SuggestedAbility
from samuel.files.globs import LONGEST
from samuel.routing.abilities.model import Ability, Level
from samuel.routing.abilities.ranking import Ranker, Ranking
from samuel.routing.abilities.registry import Registry
from samuel.routing.abilities.usage import AbilityUsage
from samuel.routing.relevance.confidence import FLOOR
from samuel.routing.relevance.index import POOL, Hit, IndexedText, TextIndex
from samuel.routing.relevance.split_words import sentences, words

WEIGHTS = {"name": 1.0, "keywords": 1.0, "when_to_use": 1.0, "summary": 0.8, "scope": 0.7}
_FIELD_NAMES = {
    "name": "its name",
    "when_to_use": "when to use it",
    "keywords": "its keywords",
    "scope": "its scope",
}

SUGGESTED = 0.5
"""The part of the gap to 1 that a suggestion with full confidence adds to the score."""

USED = 0.1
"""The same for frequent use: enough to decide between equals, not to win over a clearly better match."""

_OFTEN = 10  # uses that add half of it
NEVER_USED = AbilityUsage()

NEAR = 0.75
"""Candidates below this part of the best score are not offered: a high-level ability must fit to come first."""


_GLOB = re.compile(r"[*?\[]")
_BETWEEN = re.compile(r"[/.]")


class RouteCandidate(NamedTuple):
    id: str
    level: Level
    score: float
    """0 to 1."""
    reasons: tuple[str, ...]
    """The parts of the score, in words."""


class AbilityRouting(NamedTuple):
    candidates: tuple[RouteCandidate, ...] = ()
    reported: tuple[str, ...] = ()
    """Suggestions that could not be followed."""
    left_out: Mapping[str, str] = {}
    """Abilities that fit but are ruled out, by id, with the reason."""
    nothing: str = ""
    """Why there is no candidate."""
    nearest: tuple[RouteCandidate, ...] = ()
    """The best abilities that are not offered, the best first."""
    ranked_by: str = "words"
    """`words`, or the name of the agent that chose the candidates."""


class RouteScope(NamedTuple):
    """Where an ability is to be used; "" means anywhere."""

    environment: str = ""
    scope: str = ""


ANYWHERE = RouteScope()


class RankingChoice(NamedTuple):
    """Who ranks the abilities, and how many of those that fit best by words."""

    ranker: Ranker
    most: int = 40


def open_index(registry: Registry, file: Path | None = None) -> TextIndex:
    """The index to route with: in memory, or cached in `file` until the registry changes."""
    return TextIndex(lambda: _documents(registry), WEIGHTS, file=file, stamp=registry.stamp)


def route(
    text: str,
    registry: Registry,
    index: TextIndex,
    *,
    where: RouteScope = ANYWHERE,
    suggestions: Sequence[SuggestedAbility] = (),
    usage: Mapping[str, AbilityUsage] | None = None,
    limit: int = 5,
    ranking: RankingChoice | None = None,
) -> AbilityRouting:
    """The abilities to offer for a text. If the answer of a ranker is unusable, the words decide."""
    suggested, reported = _by_ability(suggestions, registry)
    refused: dict[str, str] = {}
    text_sentences = [[_singular(word) for word in sentence] for sentence in sentences(text)]

    def admits(id: str) -> bool:
        ability = registry.by_name[id]
        if why := _out_of_place(ability, where) or _ruled_out(ability, text_sentences):
            refused[id] = why
        return not why

    hits = {hit.id: hit for hit in index.search(text, POOL, floor=0, admits=admits)}
    hits |= {id: Hit(id, 0.0, {}) for id in suggested if id not in hits and admits(id)}
    candidates = {
        id: _candidate(registry.by_name[id], hit, suggested.get(id), (usage or {}).get(id, NEVER_USED), where)
        for id, hit in hits.items()
    }
    offered = [candidate for id, candidate in candidates.items() if hits[id].score >= FLOOR or id in suggested]
    best = max((candidate.score for candidate in offered), default=0.0)
    offered = [candidate for candidate in offered if candidate.score >= NEAR * best or candidate.id in suggested]
    offered.sort(key=lambda candidate: (candidate.level is not Level.HIGH, -candidate.score, candidate.id))
    answer = Ranking("words")
    if ranking is not None and registry.abilities:
        for ability in registry.abilities:  # a paraphrase shares no word with what it asks for
            if ability.id not in candidates and admits(ability.id):
                candidates[ability.id] = _candidate(ability, Hit(ability.id, 0.0, {}), None, NEVER_USED, where)
        pool = sorted(candidates.values(), key=_by_score)[: ranking.most]
        answer = ranking.ranker(text, [registry.by_name[candidate.id] for candidate in pool], limit)
        if answer.problem:
            reported = (*reported, f"the agent `{answer.by}` gave no ranking, the words decide: {answer.problem}")
            answer = Ranking("words")
        else:
            by_hooks = [candidate for candidate in offered if candidate.id in suggested]
            offered = _chosen(answer, candidates, by_hooks)
    fitting = index.search(text, limit, admits=refused.__contains__) if refused else []
    left_out = {id: refused[id] for id in (*(hit.id for hit in fitting), *suggested) if id in refused}
    nothing = "" if offered else _nothing(registry, hits.values(), left_out)
    if not offered and answer.by != "words":
        nothing = f"the agent `{answer.by}` found none that fits"
    offered_ids = {candidate.id for candidate in offered[:limit]}
    nearest = sorted(
        (candidate for id, candidate in candidates.items() if candidate.score > 0 and id not in offered_ids),
        key=_by_score,
    )
    return AbilityRouting(tuple(offered[:limit]), reported, left_out, nothing, tuple(nearest[:limit]), answer.by)


def _chosen(
    answer: Ranking, candidates: Mapping[str, RouteCandidate], suggested: Iterable[RouteCandidate]
) -> list[RouteCandidate]:
    """The candidates in the order of the answer, followed by those that hooks suggest."""
    ranked = [
        candidates[id]._replace(reasons=(*candidates[id].reasons, f"number {at} by the agent `{answer.by}`"))
        for at, id in enumerate(answer.ids, start=1)
    ]
    return [*ranked, *(candidate for candidate in suggested if candidate.id not in answer.ids)]


def _by_score(candidate: RouteCandidate) -> tuple[float, str]:
    return -candidate.score, candidate.id


def _documents(registry: Registry) -> Iterable[IndexedText]:
    for ability in registry.abilities:
        fields = {
            "name": "\n".join(ability.names),
            "keywords": "\n".join(ability.keywords),
            "when_to_use": ability.when_to_use,
            "summary": ability.summary,
            "scope": "\n".join(ability.all_scopes),
        }
        yield IndexedText(ability.id, fields)


def _by_ability(
    suggestions: Iterable[SuggestedAbility], registry: Registry
) -> tuple[dict[str, SuggestedAbility], tuple[str, ...]]:
    """Suggestions by the id of their ability, the surest of each; and those of abilities that do not exist."""
    surest: dict[str, SuggestedAbility] = {}
    reported = []
    hints = SpellingHints()
    for suggestion in suggestions:
        ability = registry.by_name.get(suggestion.id)
        if ability is None:
            hint = hints.did_you_mean(suggestion.id, registry.by_name)
            what = f"a hook suggests `{_line(suggestion.id)}`, which is not in the registry"
            reported.append(f"{what}; {hint}" if hint else what)
        elif ability.id not in surest or _confidence(suggestion) > _confidence(surest[ability.id]):
            surest[ability.id] = suggestion
    return surest, tuple(reported)


def _out_of_place(ability: Ability, where: RouteScope) -> str:
    """Why an ability is not for this environment and scope; "" if it is."""
    environment, scope = where
    names = map(str.casefold, ability.environments)
    if environment and ability.environments and environment.casefold() not in names:
        return f"it is for {_listed(ability.environments)}, not for `{_line(environment)}`"
    if scope and not in_scope(ability.all_scopes, scope):
        return f"it is for {_listed(ability.all_scopes)}, not for `{_line(scope)}`"
    return ""


def in_scope(scopes: Iterable[str], wanted_scope: str) -> bool:
    """`billing` is in `billing/invoices` and the other way round; `modules/billing.*` is a pattern.

    Without scopes, everything is in scope.
    """
    listed = list(scopes)
    return not listed or any(_covers(scope.casefold(), wanted_scope.casefold()) for scope in listed)


def _covers(scope: str, wanted_scope: str) -> bool:
    if _GLOB.search(scope):
        return len(scope) <= LONGEST and fnmatchcase(wanted_scope, scope)
    parts, wanted_parts = _BETWEEN.split(scope.strip("/")), _BETWEEN.split(wanted_scope.strip("/"))
    shorter = min(len(parts), len(wanted_parts))
    return parts[:shorter] == wanted_parts[:shorter]


def _ruled_out(ability: Ability, text_sentences: Sequence[Sequence[str]]) -> str:
    """Why a text rules out an ability by a negative keyword; "" if it does not.

    Words are compared without a plural `s`, not by stem: otherwise `products` would match `production`.
    """
    for phrase in ability.negative_keywords:
        phrase_words = [_singular(word) for word in words(phrase)]
        if phrase_words and any(_has(sentence, phrase_words) for sentence in text_sentences):
            return f"`{phrase}` is one of its negative keywords"
    return ""


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def _has(sentence: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(sentence[at : at + len(phrase)] == phrase for at in range(len(sentence) - len(phrase) + 1))


def _candidate(
    ability: Ability, hit: Hit, suggestion: SuggestedAbility | None, usage: AbilityUsage, where: RouteScope
) -> RouteCandidate:
    score, reasons = hit.score, []
    if hit.matched:
        parts = "; ".join(
            f"{_listed(matched_words)} in {_FIELD_NAMES.get(field, field)}"
            for field, matched_words in hit.matched.items()
        )
        reasons.append(f"{score:.2f} for {parts}")
    if suggestion is not None:
        sure = _confidence(suggestion)
        gain = (1 - score) * SUGGESTED * sure
        why = f": {_line(suggestion.reason)}" if suggestion.reason else ""
        reasons.append(f"+{gain:.2f} suggested by a hook with confidence {sure:.2f}{why}")
        score += gain
    by_count = usage.calls / (usage.calls + _OFTEN)
    if gain := (1 - score) * USED * max(by_count, usage.weight):
        why = f"used {plural(usage.calls, 'time')}"
        if usage.weight > by_count:
            why = f"preferred by a hook with weight {usage.weight:.2f}: {_line(usage.signal) or 'no signal named'}"
        reasons.append(f"+{gain:.2f} {why}")
        score += gain
    if ability.environments and not where.environment:
        reasons.append(f"runs in {_listed(ability.environments)} only, and no environment is set")
    return RouteCandidate(ability.id, ability.level, score, tuple(reasons))


def _confidence(suggestion: SuggestedAbility) -> float:
    confidence = suggestion.confidence
    return 0.5 if confidence is None or math.isnan(confidence) else min(1.0, max(0.0, confidence))


def _nothing(registry: Registry, hits: Iterable[Hit], left_out: Mapping[str, str]) -> str:
    if not registry.abilities:
        return "there are no abilities here"
    if left_out:
        return "what fits is ruled out: " + "; ".join(f"`{id}`: {why}" for id, why in left_out.items())
    nearest = max(hits, key=lambda hit: hit.score, default=None)
    if nearest is None:
        return "no ability matches"
    score = f"{nearest.score:.2f} of at least {FLOOR:.2f}"
    return f"nothing fits well enough; the nearest is `{nearest.id}` with {score}"


def _listed(items: Iterable[str]) -> str:
    return ", ".join(f"`{item}`" for item in items)


def _line(text: str) -> str:
    """The text of a hook as one short, printable line."""
    return shorten(" ".join(text.split()), 200)
