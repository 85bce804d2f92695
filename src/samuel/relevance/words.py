"""From any text to its words, the same way for what is searched and for what is asked.

A prompt may be anything: a megabyte, operators of a query language, emoji, NUL. Only what comes out of here ever
reaches the index, and that is letters and digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from samuel.relevance.english import SOURCE_FILE, STOP_WORDS

LONGEST_WORD = 40
"""Longer ones are digests, keys and base64: nobody asks by them."""

LONGEST_SENTENCE = 40
"""In words. A pasted log is one endless line: it is looked at in pieces."""

# What is asked stands at the beginning or at the end of a long text.
_HEAD, _TAIL = 12_000, 4_000

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<![^\W_])[a-z][a-z0-9]*+(?:[A-Z][a-z0-9]*+)++")
_SHORTENED = re.compile(r"(?<=[^\W_])['’](?:(s)|t|re|ve|ll|d|m)(?![^\W_])", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?<![\w./-])[\w./-]+\.(?:c|cc|cpp|cs|css|go|h|html|java|jsx?|kt|lua|php|py|rb|rs|swift|tsx?|vue)(?![\w/-])"
)
_BEFORE_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SENTENCE_END = re.compile(r"[.!?;:]+(?=\s|$)|[\r\n]+|[。！？]")
# Languages that write no spaces between words: two neighbours stand for a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def words(text: str) -> list[str]:
    """`runTests for api_v2, déjà vu` is run, tests, for, api, v2, deja, vu."""
    text = _SHORTENED.sub(lambda end: " is" if end[1] else "", text)
    text = _HUMP.sub(lambda name: _BEFORE_HUMP.sub(" ", name[0]), text)
    found: list[str] = []
    for match in _WORD.finditer(_folded(text)):
        word = match[0]
        if _UNSPACED.search(word):
            found += _pairs(word)
        elif len(word) <= LONGEST_WORD:
            found.append(word)
    return found


def informative(word: str) -> bool:
    """Whether a word says what a text is about."""
    return word not in STOP_WORDS and (len(word) > 1 or not word.isascii()) and not word.isdecimal()


def sentences(text: str) -> list[tuple[str, ...]]:
    """The words of each sentence of what matters in a text; none twice, as in a pasted log."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    text = _SOURCE.sub(SOURCE_FILE, text)
    found: dict[tuple[str, ...], None] = {}
    for sentence in _SENTENCE_END.split(text):
        spoken = words(sentence)
        for at in range(0, len(spoken), LONGEST_SENTENCE):
            found[tuple(spoken[at : at + LONGEST_SENTENCE])] = None
    return list(found)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = (one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))
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
