"""A word of a command: text whose quotes are removed and whose braces are expanded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

MAX_ALTERNATIVES = 256
"""Words that one word with braces may become."""
MAX_BRACES = 8
"""Levels of braces within braces."""

_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_RANGE = re.compile(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?")


class Piece(NamedTuple):
    """A part of a word that is quoted in one way."""

    text: str
    kind: Literal["plain", "quoted", "unknown"]


class Word(NamedTuple):
    text: str
    literal: bool = True
    """False if the shell fills in a part of it."""
    pattern: bool = False
    """True if the shell looks for files with such names."""


class _TooManyWords(Exception):
    """A brace expansion is larger than its limit."""


def words_of(pieces: Sequence[Piece]) -> list[Word]:
    """The words that a typed word becomes: `a{b,c}` is two. Beyond the limits it is one, and not known."""
    units = [
        Piece(char, piece.kind)
        for piece in pieces
        for char in (piece.text if piece.kind == "plain" else (piece.text,))
    ]
    try:
        return [_word(alternative) for alternative in _alternatives(units, MAX_BRACES)]
    except _TooManyWords:
        return [_word(units)._replace(literal=False)]


def _word(units: Sequence[Piece]) -> Word:
    unquoted = "".join(unit.text if unit.kind == "plain" else "\0" for unit in units)
    return Word(
        "".join(unit.text for unit in units),
        literal=all(unit.kind != "unknown" for unit in units),
        pattern=bool(_GLOB.search(unquoted)),
    )


def _alternatives(units: list[Piece], levels: int) -> list[list[Piece]]:
    """The sequences that braces make of one: a product of the parts before, in and after each pair of braces."""
    factors: list[list[list[Piece]]] = []
    size, position, closing = 1, 0, _closing_braces(units)
    while position < len(units):
        end = closing.get(position)
        choices = _choices(units[position + 1 : end], levels) if end is not None else None
        if end is None or choices is None:
            factors.append([[units[position]]])
            position += 1
        else:
            factors.append(choices)
            size *= len(choices)
            position = end + 1
        if size > MAX_ALTERNATIVES:
            raise _TooManyWords
    if size == 1:
        return [[unit for factor in factors for unit in factor[0]]]
    return [[unit for part in parts for unit in part] for parts in product(*factors)]


def _closing_braces(units: Sequence[Piece]) -> dict[int, int]:
    """Where each brace is closed, by where it is opened."""
    opened: list[int] = []
    closing = {}
    for position, unit in enumerate(units):
        if unit == ("{", "plain"):
            opened.append(position)
        elif unit == ("}", "plain") and opened:
            closing[opened.pop()] = position
    return closing


def _choices(units: list[Piece], levels: int) -> list[list[Piece]] | None:
    """What stands between two braces, as alternatives; None if the braces are just characters."""
    depth, parts = 0, [[]]  # type: tuple[int, list[list[Piece]]]
    for unit in units:
        if unit == (",", "plain") and depth == 0:
            parts.append([])
            continue
        if unit.kind == "plain":
            depth += (unit.text == "{") - (unit.text == "}")
        parts[-1].append(unit)
    if len(parts) == 1:
        return _range(units)
    if levels == 0 or len(parts) > MAX_ALTERNATIVES:
        raise _TooManyWords
    choices = [choice for part in parts for choice in _alternatives(part, levels - 1)]
    if len(choices) > MAX_ALTERNATIVES:
        raise _TooManyWords
    return choices


def _range(units: Sequence[Piece]) -> list[list[Piece]] | None:
    text = "".join(unit.text for unit in units if unit.kind == "plain")
    match = _RANGE.fullmatch(text) if len(text) == len(units) else None
    if match is None:
        return None
    first, last, step_text = match.groups()
    if first.isalpha() != last.isalpha():
        return None
    start, stop = (ord(first), ord(last)) if first.isalpha() else (int(first), int(last))
    step = max(1, abs(int(step_text or 1)))
    if abs(stop - start) // step >= MAX_ALTERNATIVES:
        raise _TooManyWords
    numbers = range(start, stop + 1, step) if start <= stop else range(start, stop - 1, -step)
    if first.isalpha():
        return [[Piece(chr(number), "plain")] for number in numbers]
    padded = any(re.match(r"-?0\d", text) for text in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return [[Piece(f"{number:0{width}d}" if width else str(number), "plain")] for number in numbers]
