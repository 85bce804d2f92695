"""What a text asks for: its sentences, each as the terms that documents can be searched by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from samuel.routing.relevance.confidence import SYNONYM_WEIGHT, UNKNOWN_WEIGHT, Form, Sentence, Term, rarity
from samuel.routing.relevance.spelling import one_slip_away, relatives
from samuel.routing.relevance.split_words import LONGEST_SENTENCE, informative, sentences

# Sentences that are read of a long text: the request stands at its beginning or at its end.
_FIRST, _LAST = 48, 16

# Words of one text that are looked up as misspelt.
_MOST_CORRECTIONS = 16

# A sentence that begins like this asks for an explanation, not for something to be done.
_ASKS_FOR_EXPLANATION = {("what", verb) for verb in ("is", "are", "do", "does")} | {("how", "do"), ("how", "does")}

MOST_WORDS = 64
"""Words that one text is searched by: the rarest."""


class TextQuery(NamedTuple):
    sentences: tuple[Sentence, ...]
    words: tuple[tuple[str, int], ...]
    """Words to search by, each with the number of documents that have it, the rarest first. They consist of
    letters and digits."""


class EnglishWords(NamedTuple):
    """The lists of `english.py`, by stem."""

    everyday: frozenset[str]
    off_topic: frozenset[str]
    synonyms: Mapping[str, tuple[str, ...]]


class IndexedStem(NamedTuple):
    """A stem that documents have."""

    documents: int
    word: str
    """A word that has this stem."""


class Vocabulary(NamedTuple):
    """What an index knows about words."""

    documents: int
    answers_questions: bool
    """Whether a question for an explanation can ask for one of its documents."""
    english: EnglishWords
    stem_words: Callable[[Iterable[str]], Mapping[str, str]]
    """Each word with its stem."""
    find_stems: Callable[[Iterable[str]], Mapping[str, IndexedStem]]
    """Those of the stems that any document has."""
    find_words: Callable[[Iterable[str]], Mapping[str, str]]
    """Those of the words that any document has, as they are written, each with its stem."""


def understand(text: str, vocabulary: Vocabulary) -> TextQuery:
    texts = sentences(text)
    all_words = tuple(word for sentence in texts for word in sentence)
    if len(texts) > 1 and len(all_words) <= LONGEST_SENTENCE:
        texts.append(all_words)  # two short sentences may be one question
    if len(texts) > _FIRST + _LAST:
        texts = texts[:_FIRST] + texts[-_LAST:]
    reader = _QuestionReader(texts, vocabulary)
    read = [reader.sentence(words) for words in texts]
    return TextQuery(tuple(sentence for sentence in read if sentence.terms), reader.searchable())


class _QuestionReader:
    def __init__(self, texts: Sequence[Sequence[str]], vocabulary: Vocabulary) -> None:
        words: set[str] = set()
        for sentence in texts:
            words.update(sentence)
            words.update(map("".join, pairwise(sentence)))
        self._vocabulary = vocabulary
        self._synonyms = vocabulary.english.synonyms
        self._stems = vocabulary.stem_words(words)
        own = set(self._stems.values())
        candidates = {*own, *(synonym for stem in own for synonym in self._synonyms.get(stem, ()))}
        self._indexed = dict(vocabulary.find_stems(candidates))
        self._corrections_left = _MOST_CORRECTIONS
        self._terms: dict[str, Term] = {}
        self._searchable: dict[str, int] = {}

    def sentence(self, words: tuple[str, ...]) -> Sentence:
        terms: dict[str, Term] = {}  # by stem: a word that occurs twice counts once
        next_at = 0
        for at, word in enumerate(words):
            if at < next_at:
                continue
            pair = words[at : at + 2]
            joined = "".join(pair)
            if len(pair) == 2 and self._is_compound(pair, self._stems.get(joined, "")):
                terms.setdefault(self._stems[joined], self._term(joined, pair))
                next_at = at + 2
            elif informative(word) and word in self._stems:
                terms.setdefault(self._stems[word], self._term(word, (word,)))
        stems = frozenset(self._stems[word] for word in words if word in self._stems) | terms.keys()
        stems_with_synonyms = stems.union(*(term.forms for term in terms.values()))
        if terms and not self._vocabulary.answers_questions and words[:2] in _ASKS_FOR_EXPLANATION:
            terms[""] = Term(" ".join(words[:2]), {}, 0.0, off_topic=True)
        return Sentence(tuple(terms.values()), stems, stems_with_synonyms)

    def searchable(self) -> tuple[tuple[str, int], ...]:
        rarest = sorted(self._searchable.items(), key=lambda item: (item[1], item[0]))
        return tuple(rarest[:MOST_WORDS])

    def _is_compound(self, pair: Sequence[str], stem: str) -> bool:
        """Whether two words are read as one: `roll back` where a document has `rollback`, `turn off` anywhere."""
        return stem in self._indexed or (stem in self._synonyms and not all(map(informative, pair)))

    def _term(self, word: str, parts: Sequence[str]) -> Term:
        own = self._stems[word]
        if own not in self._terms:
            self._terms[own] = self._new_term(word, parts)
        return self._terms[own]

    def _new_term(self, word: str, parts: Sequence[str]) -> Term:
        english, own = self._vocabulary.english, self._stems[word]
        own_stems = [own]
        if own not in self._indexed:  # `rolled back` may mean a rollback too
            own_stems += [self._stems[part] for part in parts if informative(part) and part in self._stems]
        candidates = dict.fromkeys((*own_stems, *self._synonyms.get(own, ())))
        indexed = [stem for stem in candidates if stem in self._indexed] or self._related(word, own)
        forms = dict.fromkeys(own_stems, Form())
        for stem in indexed:
            documents, indexed_word = self._indexed[stem]
            self._searchable[indexed_word] = documents
            forms.setdefault(stem, Form(SYNONYM_WEIGHT, indexed_word))
        rarities = [rarity(self._vocabulary.documents, self._indexed[stem].documents) for stem in indexed]
        if not rarities:
            rarities = [0.0 if any(map(str.isdecimal, word)) else UNKNOWN_WEIGHT]  # `v2` says which one, not what
        weight = rarities[0] if own in indexed else max(rarities)
        return Term(" ".join(parts), forms, weight, own in english.everyday, own in english.off_topic)

    def _related(self, word: str, own: str) -> list[str]:
        """The stems that a word may stand for that no document has: of its family, or else its correction."""
        english = self._vocabulary.english
        if own in english.everyday or own in english.off_topic or own in english.synonyms:
            return []  # a common word, spelt as it was meant
        related = self._vocabulary.find_stems(relatives(own))
        if not related and self._corrections_left and (forms := {*one_slip_away(word), *one_slip_away(own)}):
            self._corrections_left -= 1
            corrections = self._vocabulary.find_stems(set(self._vocabulary.find_words(forms).values()))
            related = dict(sorted(corrections.items(), key=lambda item: (-item[1].documents, item[0]))[:1])
        self._indexed.update(related)
        return sorted(related)
