"""How sure one can be that a sentence asks for a document: pure functions of the words they share.

BM25 ranks, but its numbers mean nothing by themselves: the best of many bad documents looks like a good one. What
counts here is which part of what was asked a document has, each word by how rare it is among all documents. A word
that no document has counts against all of them.

The numbers below were chosen on the development sets of tests/abilities/labelled, on two registries at a time, and
tried on the third. Around them the results change little: what decides is the words in `english.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

FLOOR = 0.3
"""Below it nothing is offered. Lower, and soon one of twenty unrelated prompts finds something."""

UNKNOWN = 0.4
"""The weight of a word that no document has. Often it is a name: less than a word that decides."""

EVERYDAY = 0.5
"""What is left of the weight of a word that any request might have: `fix`, `file`, `error`."""

ELSEWHERE = 2.0
"""The weight of what shows that something else is wanted, in a document that does not have it: more than that of a
word that decides, so that `what is a migration` does not migrate."""

ALIKE = 0.7
"""What another word that means the same is worth, or the word that a misspelt one stands for."""

PART = 0.6
"""What a word is worth when the rest of its phrase is missing: `stack` is not yet `stack trace`."""

# How soon more words make no difference: one that decides is half of what many are.
_ENOUGH = 1.0

# As if there were so many more documents, none of which has the word: a word that two of three documents have is
# still a word that most texts do not have.
_PRIOR = 30


class Form(NamedTuple):
    """A stem that a word may be found by."""

    worth: float = 1.0
    word: str = ""
    """What it stands for; "" for the word itself."""


class Term(NamedTuple):
    """One informative word of a sentence."""

    word: str
    forms: Mapping[str, Form]
    """By stem: its own, and those of words that mean the same."""
    rarity: float
    everyday: bool = False
    elsewhere: bool = False

    @property
    def weight(self) -> float:
        return self.rarity * EVERYDAY if self.everyday or self.elsewhere else self.rarity

    @property
    def missed(self) -> float:
        """Its weight in a document that does not have it."""
        return ELSEWHERE if self.elsewhere else self.weight


class Sentence(NamedTuple):
    terms: tuple[Term, ...]
    said: frozenset[str]
    """The stems of all its words."""
    meant: frozenset[str]
    """Those, and of what means the same: to see whether a phrase is complete."""


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
    places, spelt_out = _places(asked, document, weights)
    words: list[tuple[str, str]] = []
    certain: dict[str, float] = {}  # by stem: `french` and `german` are one `translation`
    wanted = covered = 0.0
    for term in asked.terms:
        found = [(places[stem], form, stem) for stem, form in term.forms.items() if stem in places]
        if not found:
            wanted += term.missed
            continue
        # Everyday words that together are a phrase of the document, as `load test`, are no longer everyday.
        weight = term.weight if spelt_out.isdisjoint(term.forms) else term.rarity
        place, form, stem = max(found, key=lambda one: one[0].worth * one[1].worth)
        wanted += weight
        covered += weights[place.field] * form.worth * weight
        certain[stem] = max(certain.get(stem, 0.0), place.worth * form.worth * weight)
        words.append((f"{term.word} ({form.word})" if form.word else term.word, place.field))
    if not words:
        return Match()
    sure = sum(certain.values())
    return Match(math.sqrt(covered / wanted) * sure / (sure + _ENOUGH), tuple(words))


class _Place(NamedTuple):
    worth: float
    field: str


def _places(
    asked: Sentence, document: Mapping[str, Phrases], weights: Mapping[str, float]
) -> tuple[dict[str, _Place], frozenset[str]]:
    """For each stem that was asked for and is there, where it is worth most; and the stems of those phrases of
    several words that were said word for word."""
    places: dict[str, _Place] = {}
    spelt_out: set[str] = set()
    for field, phrases in document.items():
        for phrase in phrases:
            shared = phrase & asked.meant
            if not shared:
                continue
            complete = len(shared) == len(phrase)
            place = _Place(weights[field] * (1.0 if complete else PART), field)
            for stem in shared:
                if stem not in places or places[stem].worth < place.worth:
                    places[stem] = place
            if complete and len(phrase) > 1 and phrase <= asked.said:
                spelt_out |= phrase
    return places, frozenset(spelt_out)
