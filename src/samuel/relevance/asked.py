"""What a text asks for: its sentences, each as the terms that documents can be searched by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from samuel.relevance.confidence import COMMON, SYNONYM, UNKNOWN, Sentence, Term, rarity
from samuel.relevance.english import COMMON_WORDS, SYNONYMS
from samuel.relevance.words import LONGEST_SENTENCE, informative, sentences

# Sentences that are looked at: what is asked stands at the beginning or at the end of a long text.
_FIRST, _LAST = 48, 16

MOST_WORDS = 64
"""Words that one text is searched by: the rarest."""


class Question(NamedTuple):
    sentences: tuple[Sentence, ...]
    words: tuple[tuple[str, int], ...]
    """What to search by, with how many documents have it, the rarest first. Each is of letters and digits."""


class Known(NamedTuple):
    """What an index knows about words."""

    documents: int
    stems: Callable[[Iterable[str]], Mapping[str, str]]
    having: Callable[[Iterable[str]], Mapping[str, int]]
    """How many documents have each of these stems; those that none has are left out."""


def understand(text: str, known: Known) -> Question:
    spoken = sentences(text)
    whole = tuple(word for sentence in spoken for word in sentence)
    if len(spoken) > 1 and len(whole) <= LONGEST_SENTENCE:
        spoken.append(whole)  # two short sentences may be one question
    if len(spoken) > _FIRST + _LAST:
        spoken = spoken[:_FIRST] + spoken[-_LAST:]
    reading = _Reading(spoken, known)
    read = [reading.sentence(one) for one in spoken]
    return Question(tuple(one for one in read if one.terms), reading.searchable())


class _Reading:
    def __init__(self, spoken: Sequence[Sequence[str]], known: Known) -> None:
        vocabulary = {*COMMON_WORDS, *chain(*SYNONYMS)}
        for sentence in spoken:
            vocabulary.update(sentence)
            vocabulary.update(map("".join, pairwise(sentence)))
        self._documents = known.documents
        self._stems = known.stems(vocabulary)
        self._having = known.having(set(self._stems.values()))
        self._common = {self._stems[word] for word in COMMON_WORDS}
        self._alike: dict[str, list[str]] = {}
        for group in SYNONYMS:
            for word in group:
                self._alike.setdefault(self._stems[word], []).extend(group)
        self._searchable: dict[str, int] = {}

    def sentence(self, spoken: Sequence[str]) -> Sentence:
        terms: dict[str, Term] = {}  # by stem: a word that is said twice is asked for once
        after = 0
        for at, word in enumerate(spoken):
            if at < after:
                continue
            pair = spoken[at : at + 2]
            joined = "".join(pair)
            if len(pair) == 2 and self._stems.get(joined) in self._having:  # `roll back` is `rollback`
                terms.setdefault(self._stems[joined], self._term(" ".join(pair), joined))
                after = at + 2
            elif informative(word) and word in self._stems:
                terms.setdefault(self._stems[word], self._term(word, word))
        said = {self._stems[word] for word in spoken if word in self._stems}
        said.update(stem for term in terms.values() for stem in term.stems)
        return Sentence(tuple(terms.values()), frozenset(said))

    def searchable(self) -> tuple[tuple[str, int], ...]:
        rarest = sorted(self._searchable.items(), key=lambda one: (one[1], one[0]))
        return tuple(rarest[:MOST_WORDS])

    def _term(self, shown: str, word: str) -> Term:
        own = self._stems[word]
        known = {}
        for one in (word, *self._alike.get(own, ())):
            stem = self._stems[one]
            if stem in self._having and stem not in known:
                known[stem] = SYNONYM
                self._searchable[one] = self._having[stem]
        if own in known:
            weight = rarity(self._documents, self._having[own])
        else:
            weight = max((rarity(self._documents, self._having[stem]) for stem in known), default=UNKNOWN)
        common = own in self._common
        return Term(shown, known | {own: 1.0}, weight * COMMON if common else weight, common)
