"""Split any text into words, in the same way for documents and for requests.

A prompt may be anything: a megabyte, operators of a query language, emoji, NUL. Only what comes out of here ever
reaches the index, and that is letters and digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from samuel.routing.relevance.english import SOURCE_FILE, STOP_WORDS

LONGEST_WORD = 40
"""Longer ones are digests, keys and base64, and left out."""

LONGEST_SENTENCE = 40
"""In words. A pasted log is one endless line, which is read in pieces of this length."""

# The request stands at the beginning or at the end of a long text.
_HEAD, _TAIL = 12_000, 4_000

_WORD = re.compile(r"[^\W_]+")
_CAMEL_CASE = re.compile(r"(?<![^\W_])[a-z][a-z0-9]*+(?:[A-Z][a-z0-9]*+)++")
_CONTRACTION = re.compile(r"(?<=[^\W_])['’](?:(s)|t|re|ve|ll|d|m)(?![^\W_])", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?<![\w./-])[\w./-]+\.(?:c|cc|cpp|cs|css|go|h|html|java|jsx?|kt|lua|php|py|rb|rs|swift|tsx?|vue)(?![\w/-])"
)
_BEFORE_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SENTENCE_END = re.compile(r"[.!?;:]+(?=\s|$)|[\r\n]+|[。！？]")
# Languages that write no spaces between words: two neighbours stand for a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def words(text: str) -> list[str]:
    """Words in lower case: `runTests for api_v2, déjà vu` gives run, tests, for, api, v2, deja, vu."""
    text = _CONTRACTION.sub(lambda end: " is" if end[1] else "", text)
    text = _CAMEL_CASE.sub(lambda name: _BEFORE_CAPITAL.sub(" ", name[0]), text)
    result: list[str] = []
    for match in _WORD.finditer(_folded(text)):
        word = match[0]
        if _UNSPACED.search(word):
            result += _pairs(word)
        elif len(word) <= LONGEST_WORD:
            result.append(word)
    return result


def informative(word: str) -> bool:
    """Whether a word says what a text is about."""
    return word not in STOP_WORDS and (len(word) > 1 or not word.isascii()) and not word.isdecimal()


def sentences(text: str) -> list[tuple[str, ...]]:
    """The words of each sentence at the beginning and the end of a text; of equal ones, as in a log, the first."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    text = _SOURCE.sub(SOURCE_FILE, text)
    unique: dict[tuple[str, ...], None] = {}
    for sentence in _SENTENCE_END.split(text):
        sentence_words = words(sentence)
        for at in range(0, len(sentence_words), LONGEST_SENTENCE):
            unique[tuple(sentence_words[at : at + LONGEST_SENTENCE])] = None
    return list(unique)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    characters = unicodedata.normalize("NFKD", text.casefold())
    bare = (character for character in characters if not unicodedata.combining(character))
    return unicodedata.normalize("NFKC", "".join(bare))


def _pairs(run: str) -> Iterator[str]:
    for piece in re.split(f"({_UNSPACED.pattern})", run):
        if not _UNSPACED.match(piece):
            if piece and len(piece) <= LONGEST_WORD:
                yield piece
        elif len(piece) == 1:
            yield piece
        else:
            yield from (piece[at : at + 2] for at in range(len(piece) - 1))
