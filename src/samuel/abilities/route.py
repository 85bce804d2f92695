"""Which abilities a text asks for: the surest of the high-level ones first, then the low-level ones.

Full-text relevance decides. What hooks suggest and what is used often moves an ability up, each within a bound; an
environment, a scope or a negative keyword takes one out. The same inputs always give the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.abilities.model import Ability, Level
from samuel.abilities.ranking import Ranker, Ranking
from samuel.abilities.registry import Registry
from samuel.abilities.scope import in_scope
from samuel.events.session import SuggestedAbility
from samuel.nearest import SpellingHints
from samuel.printable import file_name
from samuel.relevance.confidence import FLOOR
from samuel.relevance.index import POOL, Hit, IndexedText, TextIndex
from samuel.relevance.words import sentences, words

WEIGHTS = {"name": 1.0, "keywords": 1.0, "when_to_use": 1.0, "summary": 0.8, "scope": 0.7}
_SHOWN = {"name": "its name", "when_to_use": "when to use it", "keywords": "its keywords", "scope": "its scope"}

SUGGESTED = 0.5
"""How much of what an ability lacks to certainty a suggestion gives it, at full confidence."""

USED = 0.1
"""Likewise for frequent use: enough to win over an equal, never over one that fits clearly better."""

_OFTEN = 10  # uses that give half of it

NEAR = 0.75
"""What is not at least so near to the best is not offered: a high-level ability comes first only if it fits."""


class RouteCandidate(NamedTuple):
    id: str
    level: Level
    score: float
    """0 to 1."""
    reasons: tuple[str, ...]
    """What the score is made of, in words."""


class AbilityRouting(NamedTuple):
    candidates: tuple[RouteCandidate, ...] = ()
    reported: tuple[str, ...] = ()
    """Suggestions that could not be followed."""
    left_out: Mapping[str, str] = {}
    """What fits too and may not be offered, by id, and why."""
    nothing: str = ""
    """Why there is no candidate."""
    nearest: tuple[RouteCandidate, ...] = ()
    """What comes nearest of what is not offered, the best first."""
    ranked_by: str = "words"
    """`words`, or the name of the agent that chose the candidates."""


def open_index(registry: Registry, file: Path | None = None) -> TextIndex:
    """The index to route with, in memory; or kept in `file` until the registry changes."""
    if file is None:
        return TextIndex.build(_documents(registry), WEIGHTS)
    return TextIndex.cached(file, registry.stamp, lambda: _documents(registry), WEIGHTS)


def route(
    text: str,
    registry: Registry,
    index: TextIndex,
    *,
    environment: str = "",
    scope: str = "",
    suggestions: Sequence[SuggestedAbility] = (),
    usage: Mapping[str, int] | None = None,
    limit: int = 5,
    ranker: Ranker | None = None,
    shown: int = 40,
) -> AbilityRouting:
    """What to offer for a text. `environment` and `scope` say where one is, "" that it does not matter.

    `ranker` chooses among the `shown` abilities that fit best by words; without a usable answer the words decide.
    """
    suggested, reported = _resolved(suggestions, registry)
    refused: dict[str, str] = {}

    def admits(id: str) -> bool:
        if why := _elsewhere(registry.by_name[id], environment, scope):
            refused[id] = why
        return not why

    hits = {hit.id: hit for hit in index.search(text, POOL, floor=0, admits=admits)}
    for id in suggested:
        if id not in hits and admits(id):
            hits[id] = Hit(id, 0.0, {})
    refused |= _unwanted(text, [registry.by_name[id] for id in hits])
    found = {
        id: _candidate(registry.by_name[id], hit, suggested.get(id), (usage or {}).get(id, 0), environment)
        for id, hit in hits.items()
        if id not in refused
    }
    offered = [one for id, one in found.items() if hits[id].score >= FLOOR or id in suggested]
    best = max((one.score for one in offered), default=0.0)
    offered = [one for one in offered if one.score >= NEAR * best or one.id in suggested]
    offered.sort(key=lambda one: (one.level is not Level.HIGH, -one.score, one.id))
    answer = Ranking("words")
    if ranker is not None and registry.abilities:
        others = (one for one in registry.abilities if one.id not in hits and admits(one.id))
        found |= {one.id: _candidate(one, _no_hit(one), None, 0, environment) for one in others}
        refused |= _unwanted(text, [registry.by_name[id] for id in found])
        pool = sorted((one for one in found.values() if one.id not in refused), key=_by_score)
        answer = ranker(text, [registry.by_name[one.id] for one in pool[:shown]], limit)
        if answer.problem:
            reported = (*reported, f"the agent `{answer.by}` gave no ranking, the words decide: {answer.problem}")
            answer = Ranking("words")
        else:
            offered = _chosen(answer, found, [one for one in offered if one.id in suggested])
    fitting = index.search(text, limit, admits=refused.__contains__) if refused else []
    left_out = {id: refused[id] for id in (*(hit.id for hit in fitting), *suggested) if id in refused}
    nothing = "" if offered else _nothing(registry, hits.values(), left_out)
    if not offered and answer.by != "words":
        nothing = f"the agent `{answer.by}` found none that fits"
    near = sorted((one for one in found.values() if one.score > 0), key=_by_score)
    nearest = tuple(one for one in near if one.id not in {kept.id for kept in offered[:limit]})
    return AbilityRouting(tuple(offered[:limit]), reported, left_out, nothing, nearest[:limit], answer.by)


def _chosen(
    answer: Ranking, found: Mapping[str, RouteCandidate], suggested: Iterable[RouteCandidate]
) -> list[RouteCandidate]:
    """In the order of the answer; what hooks suggest stays in the offer, after it."""
    ranked = [
        found[id]._replace(reasons=(*found[id].reasons, f"number {at} by the agent `{answer.by}`"))
        for at, id in enumerate(answer.ids, start=1)
    ]
    return [*ranked, *(one for one in suggested if one.id not in answer.ids)]


def _by_score(candidate: RouteCandidate) -> tuple[float, str]:
    return -candidate.score, candidate.id


def _no_hit(ability: Ability) -> Hit:
    """For an ability that shares no word with a text: a paraphrase may ask for it all the same."""
    return Hit(ability.id, 0.0, {})


def _documents(registry: Registry) -> Iterable[IndexedText]:
    for one in registry.abilities:
        fields = {
            "name": "\n".join(one.names),
            "keywords": "\n".join(one.keywords),
            "when_to_use": one.when_to_use,
            "summary": one.summary,
            "scope": "\n".join(one.all_scopes),
        }
        yield IndexedText(one.id, fields)


def _resolved(
    suggestions: Iterable[SuggestedAbility], registry: Registry
) -> tuple[dict[str, SuggestedAbility], tuple[str, ...]]:
    """Suggestions by the id of their ability, the surest of each; and those of abilities that do not exist."""
    found: dict[str, SuggestedAbility] = {}
    reported = []
    hints = SpellingHints()
    for one in suggestions:
        known = registry.by_name.get(one.id)
        if known is None:
            hint = hints.did_you_mean(one.id, registry.by_name)
            reported.append(
                f"a hook suggests `{_line(one.id)}`, which is not in the registry" + (f"; {hint}" if hint else "")
            )
        elif known.id not in found or _confidence(one) > _confidence(found[known.id]):
            found[known.id] = one
    return found, tuple(reported)


def _elsewhere(ability: Ability, environment: str, scope: str) -> str:
    """Why an ability is not for where one is; "" if it is."""
    names = map(str.casefold, ability.environments)
    if environment and ability.environments and environment.casefold() not in names:
        return f"it is for {_listed(ability.environments)}, not for `{_line(environment)}`"
    if scope and not in_scope(ability.all_scopes, scope):
        return f"it is for {_listed(ability.all_scopes)}, not for `{_line(scope)}`"
    return ""


def _unwanted(text: str, abilities: Iterable[Ability]) -> dict[str, str]:
    """Those that a text rules out by one of their negative keywords, with the reason.

    The words count as written, one or many: by their stems `products` would rule out what `production` does.
    """
    said = [[_singular(word) for word in sentence] for sentence in sentences(text)]
    found = {}
    for one in abilities:
        for phrase in one.negative_keywords:
            wanted = [_singular(word) for word in words(phrase)]
            if wanted and any(_has(sentence, wanted) for sentence in said):
                found[one.id] = f"`{phrase}` is one of its negative keywords"
    return found


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def _has(sentence: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(sentence[at : at + len(phrase)] == phrase for at in range(len(sentence) - len(phrase) + 1))


def _candidate(
    ability: Ability, hit: Hit, suggestion: SuggestedAbility | None, used: int, environment: str
) -> RouteCandidate:
    score, reasons = hit.score, []
    if hit.matched:
        found = "; ".join(f"{_listed(said)} in {_SHOWN.get(field, field)}" for field, said in hit.matched.items())
        reasons.append(f"{score:.2f} for {found}")
    if suggestion is not None:
        sure = _confidence(suggestion)
        gain = (1 - score) * SUGGESTED * sure
        why = f": {_line(suggestion.reason)}" if suggestion.reason else ""
        reasons.append(f"+{gain:.2f} suggested by a hook with confidence {sure:.2f}{why}")
        score += gain
    if used > 0:
        gain = (1 - score) * USED * used / (used + _OFTEN)
        reasons.append(f"+{gain:.2f} used {used} time{'s' if used > 1 else ''}")
        score += gain
    if ability.environments and not environment:
        reasons.append(f"runs in {_listed(ability.environments)} alone, and no environment is set")
    return RouteCandidate(ability.id, ability.level, score, tuple(reasons))


def _confidence(suggestion: SuggestedAbility) -> float:
    given = suggestion.confidence
    return 0.5 if given is None or math.isnan(given) else min(1.0, max(0.0, given))


def _nothing(registry: Registry, hits: Iterable[Hit], left_out: Mapping[str, str]) -> str:
    if not registry.abilities:
        return "there are no abilities here"
    if left_out:
        return "what fits may not be offered: " + "; ".join(f"`{id}`: {why}" for id, why in left_out.items())
    nearest = max(hits, key=lambda hit: hit.score, default=None)
    if nearest is None:
        return "no ability has anything to do with it"
    return (
        f"nothing fits well enough; the nearest is `{nearest.id}` with {nearest.score:.2f} of at least {FLOOR:.2f}"
    )


def _listed(items: Iterable[str]) -> str:
    return ", ".join(f"`{item}`" for item in items)


def _line(text: str) -> str:
    """What a hook said, as one line that can be written down."""
    said = " ".join(file_name(text).split())
    return said if len(said) <= 200 else f"{said[:199]}…"
