"""What a text asks for: its sentences, each as the terms that documents can be searched by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from samuel.relevance.confidence import ALIKE, UNKNOWN, Form, Sentence, Term, rarity
from samuel.relevance.spelling import relatives, slips
from samuel.relevance.words import LONGEST_SENTENCE, informative, sentences

# Sentences that are looked at: what is asked stands at the beginning or at the end of a long text.
_FIRST, _LAST = 48, 16

# Words of one text that are looked up as misspelt.
_MISSPELT = 16

# Who begins so wants to be told something, and nothing done.
_WANTS_TO_KNOW = {("what", verb) for verb in ("is", "are", "do", "does")} | {("how", "do"), ("how", "does")}

MOST_WORDS = 64
"""Words that one text is searched by: the rarest."""


class TextQuery(NamedTuple):
    sentences: tuple[Sentence, ...]
    words: tuple[tuple[str, int], ...]
    """What to search by, with how many documents have it, the rarest first. Each is of letters and digits."""


class EnglishWords(NamedTuple):
    """The lists of `english.py`, by stem."""

    everyday: frozenset[str]
    elsewhere: frozenset[str]
    alike: Mapping[str, tuple[str, ...]]


class KnownStem(NamedTuple):
    """A stem that documents have."""

    documents: int
    word: str
    """One that has this stem."""


class Vocabulary(NamedTuple):
    """What an index knows about words."""

    documents: int
    answers: bool
    """Whether its documents answer questions; otherwise who only wants to be told something asks for none."""
    english: EnglishWords
    stems: Callable[[Iterable[str]], Mapping[str, str]]
    having: Callable[[Iterable[str]], Mapping[str, KnownStem]]
    """Those of the stems that any document has."""
    spelt: Callable[[Iterable[str]], Mapping[str, str]]
    """The stems of those words that any document has, as they are written."""


def understand(text: str, known: Vocabulary) -> TextQuery:
    spoken = sentences(text)
    whole = tuple(word for sentence in spoken for word in sentence)
    if len(spoken) > 1 and len(whole) <= LONGEST_SENTENCE:
        spoken.append(whole)  # two short sentences may be one question
    if len(spoken) > _FIRST + _LAST:
        spoken = spoken[:_FIRST] + spoken[-_LAST:]
    reading = _Reading(spoken, known)
    read = [reading.sentence(one) for one in spoken]
    return TextQuery(tuple(one for one in read if one.terms), reading.searchable())


class _Reading:
    def __init__(self, spoken: Sequence[Sequence[str]], known: Vocabulary) -> None:
        vocabulary: set[str] = set()
        for sentence in spoken:
            vocabulary.update(sentence)
            vocabulary.update(map("".join, pairwise(sentence)))
        self._known = known
        self._alike = known.english.alike
        self._stems = known.stems(vocabulary)
        said = set(self._stems.values())
        self._having = dict(known.having({*said, *(other for one in said for other in self._alike.get(one, ()))}))
        self._misspelt = _MISSPELT
        self._terms: dict[str, Term] = {}
        self._searchable: dict[str, int] = {}

    def sentence(self, spoken: tuple[str, ...]) -> Sentence:
        terms: dict[str, Term] = {}  # by stem: a word that is said twice is asked for once
        after = 0
        for at, word in enumerate(spoken):
            if at < after:
                continue
            pair = spoken[at : at + 2]
            joined = "".join(pair)
            if len(pair) == 2 and self._is_one(pair, self._stems.get(joined, "")):
                terms.setdefault(self._stems[joined], self._term(joined, pair))
                after = at + 2
            elif informative(word) and word in self._stems:
                terms.setdefault(self._stems[word], self._term(word, (word,)))
        said = frozenset(self._stems[word] for word in spoken if word in self._stems) | terms.keys()
        meant = said.union(*(term.forms for term in terms.values()))
        if terms and not self._known.answers and spoken[:2] in _WANTS_TO_KNOW:
            terms[""] = Term(" ".join(spoken[:2]), {}, 0.0, elsewhere=True)
        return Sentence(tuple(terms.values()), said, meant)

    def searchable(self) -> tuple[tuple[str, int], ...]:
        rarest = sorted(self._searchable.items(), key=lambda one: (one[1], one[0]))
        return tuple(rarest[:MOST_WORDS])

    def _is_one(self, pair: Sequence[str], stem: str) -> bool:
        """`roll back` is `rollback`, where a document has that; and `turn off` means something anywhere."""
        return stem in self._having or (stem in self._alike and not all(map(informative, pair)))

    def _term(self, word: str, spoken: Sequence[str]) -> Term:
        own = self._stems[word]
        if own not in self._terms:
            self._terms[own] = self._read(word, spoken)
        return self._terms[own]

    def _read(self, word: str, spoken: Sequence[str]) -> Term:
        english, own = self._known.english, self._stems[word]
        said = [own]
        if own not in self._having:  # who writes `rolled back` means a rollback too
            said += [self._stems[part] for part in spoken if informative(part) and part in self._stems]
        known = [stem for stem in dict.fromkeys((*said, *self._alike.get(own, ()))) if stem in self._having]
        known = known or self._guessed(word, own)
        forms = dict.fromkeys(said, Form())
        for stem in known:
            had = self._having[stem]
            self._searchable[had.word] = had.documents
            forms.setdefault(stem, Form(ALIKE, had.word))
        rare = [rarity(self._known.documents, self._having[stem].documents) for stem in known]
        if not rare:
            rare = [0.0 if any(map(str.isdecimal, word)) else UNKNOWN]  # `v2`, `4711x`: which one, not what
        elsewhere = own in english.elsewhere
        weight = rare[0] if own in known else max(rare)
        return Term(" ".join(spoken), forms, weight, own in english.everyday, elsewhere)

    def _guessed(self, word: str, own: str) -> list[str]:
        """What a word that no document has may stand for."""
        english = self._known.english
        if own in english.everyday or own in english.elsewhere or own in english.alike:
            return []  # a word that is well known, and meant
        related = self._known.having(relatives(own))
        if not related and self._misspelt and (forms := {*slips(word), *slips(own)}):
            self._misspelt -= 1
            meant = self._known.having(set(self._known.spelt(forms).values()))
            related = dict(sorted(meant.items(), key=lambda one: (-one[1].documents, one[0]))[:1])
        self._having.update(related)
        return sorted(related)
