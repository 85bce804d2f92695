"""How sure one can be that a sentence asks for a document: pure functions of the words they share.

BM25 ranks, but its numbers mean nothing by themselves: the best of many bad documents looks like a good one. What
counts here is which part of the sentence a document has, each word by how rare it is among all documents. A word
that no document has counts against all of them.

The weights below were chosen on the development sets of tests/routing/abilities/labelled: on two registries at a
time, then tried on the third. Results change little around these values; the lists in `english.py` matter more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

FLOOR = 0.3
"""Documents with a lower score are not offered. With a lower floor, one of twenty unrelated prompts soon finds
something."""

UNKNOWN_WEIGHT = 0.4
"""The weight of a word that no document has. It is often a name, so it weighs less than a rare word."""

EVERYDAY_FACTOR = 0.5
"""Applied to the weight of a word that any request might have: `fix`, `file`, `error`."""

OFF_TOPIC_WEIGHT = 2.0
"""The weight of a word that asks for code or an explanation, in a document that does not have it. It exceeds the
weight of any other word, so that `what is a migration` does not find the ability that migrates."""

SYNONYM_WEIGHT = 0.7
"""The weight of a synonym, or of the word that a misspelt one stands for, relative to the word itself."""

PARTIAL_PHRASE_FACTOR = 0.6
"""Applied to a word when the rest of its phrase is missing: `stack` is not yet `stack trace`."""

# How soon more words make no difference: one rare word gives half of the greatest possible certainty.
_HALF_CERTAIN = 1.0

# As if there were so many more documents, none of which has the word: a word that two of three documents have is
# still a word that most texts do not have.
_PRIOR = 30


class Form(NamedTuple):
    """A stem by which a word may be found."""

    weight: float = 1.0
    word: str = ""
    """The other word that has this stem: a synonym or a correction; "" for the word itself."""


class Term(NamedTuple):
    """One informative word of a sentence."""

    word: str
    forms: Mapping[str, Form]
    """By stem: its own, and those of its synonyms."""
    rarity: float
    everyday: bool = False
    off_topic: bool = False

    @property
    def weight(self) -> float:
        return self.rarity * EVERYDAY_FACTOR if self.everyday or self.off_topic else self.rarity

    @property
    def weight_if_missing(self) -> float:
        """Its weight in a document that does not have it."""
        return OFF_TOPIC_WEIGHT if self.off_topic else self.weight


class Sentence(NamedTuple):
    terms: tuple[Term, ...]
    stems: frozenset[str]
    """The stems of all its words."""
    stems_with_synonyms: frozenset[str]
    """Those, and the stems of synonyms: they decide whether a phrase is complete."""


Phrases = Sequence[frozenset[str]]
"""The stems of each phrase of a field."""


class Match(NamedTuple):
    score: float = 0.0
    words: tuple[tuple[str, str], ...] = ()
    """Each word of the sentence that the document has, with the field where it weighs most."""


def rarity(documents: int, having: int) -> float:
    """From near 0, for a word that all documents have, to 1 for a word that only one of them has."""
    return _inverse(documents, having) / _inverse(documents, 1)


def _inverse(documents: int, having: int) -> float:
    return math.log(1 + (documents + _PRIOR - having + 0.5) / (having + 0.5))


def confidence(sentence: Sentence, document: Mapping[str, Phrases], field_weights: Mapping[str, float]) -> Match:
    """How sure it is that a sentence asks for a document, and the words that they share.

    `field_weights` gives the weight of a word in each field, up to 1. The score is the share of the sentence that
    the document covers, times how certain the shared words make it.
    """
    places, complete_stems = _places(sentence, document, field_weights)
    words: list[tuple[str, str]] = []
    certainty: dict[str, float] = {}  # by stem: `french` and `german` are one `translation`
    total = covered = 0.0
    for term in sentence.terms:
        matches = [(places[stem], form, stem) for stem, form in term.forms.items() if stem in places]
        if not matches:
            total += term.weight_if_missing
            continue
        # Everyday words that together are a phrase of the document, as `load test`, are no longer everyday.
        weight = term.weight if complete_stems.isdisjoint(term.forms) else term.rarity
        place, form, stem = max(matches, key=lambda match: match[0].weight * match[1].weight)
        total += weight
        covered += field_weights[place.field] * form.weight * weight
        certainty[stem] = max(certainty.get(stem, 0.0), place.weight * form.weight * weight)
        words.append((f"{term.word} ({form.word})" if form.word else term.word, place.field))
    if not words:
        return Match()
    certain = sum(certainty.values())
    return Match(math.sqrt(covered / total) * certain / (certain + _HALF_CERTAIN), tuple(words))


class _StemPlace(NamedTuple):
    weight: float
    field: str


def _places(
    sentence: Sentence, document: Mapping[str, Phrases], field_weights: Mapping[str, float]
) -> tuple[dict[str, _StemPlace], frozenset[str]]:
    """For each stem that both have, the place where it weighs most; and the stems of those phrases of several
    words that the sentence has word for word."""
    places: dict[str, _StemPlace] = {}
    complete_stems: set[str] = set()
    for field, phrases in document.items():
        for phrase in phrases:
            shared = phrase & sentence.stems_with_synonyms
            if not shared:
                continue
            complete = len(shared) == len(phrase)
            place = _StemPlace(field_weights[field] * (1.0 if complete else PARTIAL_PHRASE_FACTOR), field)
            for stem in shared:
                if stem not in places or places[stem].weight < place.weight:
                    places[stem] = place
            if complete and len(phrase) > 1 and phrase <= sentence.stems:
                complete_stems |= phrase
    return places, frozenset(complete_stems)
