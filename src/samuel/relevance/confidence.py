"""How sure one can be that a sentence asks for a document: pure functions of the words they share.

BM25 ranks, but its numbers mean nothing by themselves: the best of many bad documents looks like a good one. What
counts here is which part of what was asked a document has, each word by how rare it is among all documents. A word
that no document has counts against all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# As if there were so many more documents, none of which has the word: among three documents a word that two of
# them have is still a word that most texts do not have.
PRIOR = 30

UNKNOWN = 0.6
"""The weight of a word that no document has. Often it is only a name: less than that of a word that decides."""

SYNONYM = 0.7
"""What a word that means the same is worth, beside the word itself."""


class Term(NamedTuple):
    """One word of a sentence: what it is searched by, and what that is worth."""

    word: str
    stems: Mapping[str, float]
    weight: float


Asked = tuple[Term, ...]
"""The informative words of one sentence."""


def rarity(documents: int, having: int) -> float:
    """From near 0, for a word that all documents have, to 1 for a word that one of them has."""
    return min(1.0, _inverse(documents, having) / _inverse(documents, 1))


def _inverse(documents: int, having: int) -> float:
    return math.log(1 + (documents + PRIOR - having + 0.5) / (having + 0.5))


class Match(NamedTuple):
    score: float
    words: tuple[tuple[str, str], ...]
    """Each word that was found, with the field it was found in."""


PART=0.65
def confidence(asked, document, weights):
    """document: field -> tuple of phrases (frozenset of stems)"""
    said=frozenset(stem for term in asked for stem in term.stems)
    value={}
    for field, phrases in document.items():
        for phrase in phrases:
            hit = phrase & said
            if hit:
                worth = weights[field] * (1.0 if len(hit)==len(phrase) else PART)
                for stem in hit:
                    if value.get(stem,(0,""))[0] < worth: value[stem]=(worth,field)
    found, had, wanted = [], 0.0, 0.0
    for term in asked:
        wanted += term.weight
        worth, field = max(((factor*value[stem][0], value[stem][1]) for stem,factor in term.stems.items() if stem in value), default=(0.0,""))
        if worth:
            had += worth * term.weight
            found.append((term.word, field))
    if not had:
        return Match(0.0, ())
    coverage = had / wanted
    evidence = had / (had + 0.5)
    return Match(coverage**0.5 * evidence, tuple(found))
