"""How sure one can be that a sentence asks for a document: pure functions of the words they share.

BM25 ranks, but its numbers mean nothing by themselves: the best of many bad documents looks like a good one. What
counts here is which part of what was asked a document has, each word by how rare it is among all documents. A word
that no document has counts against all of them.

The numbers below were chosen on the prompts of tests/abilities/labelled/development.yaml, and on those alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

FLOOR = 0.365
"""Below it nothing is offered: chosen on labelled prompts so that unrelated ones find nothing."""

UNKNOWN = 0.4
"""The weight of a word that no document has. Often it is a name: less than a word that decides."""

COMMON = 0.6
"""What is left of the weight of a word that any request might have: `fix`, `file`, `error`."""

SYNONYM = 0.7
"""What a word that means the same is worth, beside the word itself."""

PART = 0.65
"""What a word is worth when the rest of its phrase is missing: `stack` is not yet `stack trace`."""

LONE = 0.45
"""The same for the only word that was found, common ones apart: it may well be chance."""

# As if there were so many more documents, none of which has the word: a word that two of three documents have is
# still a word that most texts do not have.
_PRIOR = 30

# How soon more words make no difference: one that decides is more than half of what many are.
_ENOUGH = 0.7


class Term(NamedTuple):
    """One informative word of a sentence."""

    word: str
    stems: Mapping[str, float]
    """What it is found by: its own stem, and those of words that mean the same, with what they are worth."""
    weight: float
    common: bool = False


class Sentence(NamedTuple):
    terms: tuple[Term, ...]
    stems: frozenset[str]
    """Those of all its words, and of what means the same: to see whether a phrase is complete."""


Phrases = Sequence[frozenset[str]]
"""The stems of each phrase of a field."""


class Match(NamedTuple):
    score: float = 0.0
    words: tuple[tuple[str, str], ...] = ()
    """Each word that was found, with the field where it is worth most."""


def rarity(documents: int, having: int) -> float:
    """From near 0, for a word that all documents have, to 1 for a word that only one of them has."""
    return _inverse(documents, having) / _inverse(documents, 1)


def _inverse(documents: int, having: int) -> float:
    return math.log(1 + (documents + _PRIOR - having + 0.5) / (having + 0.5))


def confidence(asked: Sentence, document: Mapping[str, Phrases], weights: Mapping[str, float]) -> Match:
    """`weights` says what a word is worth in each field, up to 1.

    The score is how much of what was asked is there, times how much is made certain by it.
    """
    shared = [
        (field, both, len(both) == len(phrase))
        for field, phrases in document.items()
        for phrase in phrases
        if (both := phrase & asked.stems)
    ]
    there = frozenset[str]().union(*(both for _, both, _ in shared))
    telling = sum(1 for term in asked.terms if not term.common and not there.isdisjoint(term.stems))
    worth = _worth(shared, weights, PART if telling > 1 else LONE)
    words: list[tuple[str, str]] = []
    wanted = covered = certain = 0.0
    for term in asked.terms:
        wanted += term.weight
        found = [(worth[stem], factor) for stem, factor in term.stems.items() if stem in worth]
        if found:
            best, factor = max(found, key=lambda one: one[0].value * one[1])
            covered += weights[best.field] * factor * term.weight
            certain += best.value * factor * term.weight
            words.append((term.word, best.field))
    if not words:
        return Match()
    return Match(math.sqrt(covered / wanted) * certain / (certain + _ENOUGH), tuple(words))


class _Worth(NamedTuple):
    value: float
    field: str


def _worth(
    shared: Iterable[tuple[str, frozenset[str], bool]], weights: Mapping[str, float], part: float
) -> dict[str, _Worth]:
    """For each stem that was asked for and is there, where it is worth most.

    `shared` has, for each phrase, its field, what was asked for of it, and whether that is all of it.
    """
    worth: dict[str, _Worth] = {}
    for field, stems, complete in shared:
        one = _Worth(weights[field] * (1.0 if complete else part), field)
        for stem in stems:
            if stem not in worth or worth[stem].value < one.value:
                worth[stem] = one
    return worth
