"""How sure one can be that a sentence asks for a document: pure functions of the words they share.

BM25 ranks, but its numbers mean nothing by themselves: the best of many bad documents looks like a good one. What
counts here is which part of what was asked a document has, each word by how rare it is among all documents. A word
that no document has counts against all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

FLOOR = 0.35
"""Below it nothing is offered: chosen on labelled prompts so that unrelated ones find nothing."""

UNKNOWN = 0.6
"""The weight of a word that no document has. Often it is a name: less than a word that decides."""

COMMON = 0.5
"""What is left of the weight of a word that any request might have: `fix`, `file`, `error`."""

SYNONYM = 0.7
"""What a word that means the same is worth, beside the word itself."""

PART = 0.75
"""What a word is worth when the rest of its phrase is missing: `stack` is not yet `stack trace`."""

# As if there were so many more documents, none of which has the word: a word that two of three documents have is
# still a word that most texts do not have.
_PRIOR = 30

# How soon more words make no difference: one that decides is half of the most there is, three are three quarters.
_ENOUGH = 1.0


class Term(NamedTuple):
    """One informative word of a sentence."""

    word: str
    stems: Mapping[str, float]
    """What it is found by: its own stem, and those of words that mean the same, with what they are worth."""
    weight: float


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
    """`weights` says what a word is worth in each field, up to 1."""
    worth = _worth(asked, document, weights)
    found: list[tuple[str, str]] = []
    had = wanted = 0.0
    for term in asked.terms:
        wanted += term.weight
        there = [(factor * worth[stem][0], worth[stem][1]) for stem, factor in term.stems.items() if stem in worth]
        if there:
            value, field = max(there)
            had += value * term.weight
            found.append((term.word, field))
    if not found:
        return Match()
    coverage, evidence = had / wanted, had / (had + _ENOUGH)
    return Match(math.sqrt(coverage) * evidence, tuple(found))


def _worth(
    asked: Sentence, document: Mapping[str, Phrases], weights: Mapping[str, float]
) -> dict[str, tuple[float, str]]:
    """For each stem that was asked for and is there, the most it is worth, and in which field."""
    worth: dict[str, tuple[float, str]] = {}
    for field, phrases in document.items():
        for phrase in phrases:
            shared = phrase & asked.stems
            value = (weights[field] * (1.0 if len(shared) == len(phrase) else PART), field)
            for stem in shared:
                if stem not in worth or worth[stem][0] < value[0]:
                    worth[stem] = value
    return worth
