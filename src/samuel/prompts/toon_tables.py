"""Tables as TOON within a number of bytes. What does not fit is left out row by row, from the end, and counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import toons

_NOT_SHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class TableSection(NamedTuple):
    name: str
    rows: Sequence[Any]
    """Mappings of the same keys, for a table; or paths, which are put together by directory."""
    total: int
    """How many there are, shown or not."""
    share: float
    """Of the bytes; what one section leaves over goes to the next."""


def compact(head: dict[str, Any], sections: Sequence[TableSection], budget: int) -> str:
    """`head` whole, then each section cut to its share, then how many rows were left out of which."""
    room = budget - _size(head) - _size({"left_out": {section.name: section.total for section in sections}})
    parts, left_out, spare = dict(head), {}, 0.0
    for section in sections:
        allowed = section.share * room + spare
        row_count, part = _fit(section, allowed)
        spare = allowed - (_size(part) if row_count else 0)
        if row_count:
            parts |= part
        if row_count < section.total:
            left_out[section.name] = section.total - row_count
    if left_out:
        parts["left_out"] = left_out
    return toons.dumps(parts)


def one_line(text: str, most: int = 160) -> str:
    """Untrusted text (names, subjects) as one line, with control characters escaped."""
    if not text.isprintable():
        text = _NOT_SHOWN.sub(lambda match: ascii(match[0])[1:-1], text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _fit(section: TableSection, allowed: float) -> tuple[int, dict[str, Any]]:
    """The most rows that fit: one row more never takes fewer bytes, so doubling and then halving finds it."""
    fits, fails = 0, len(section.rows) + 1
    while fails - fits > 1:
        middle = min((fits + fails) // 2, 2 * fits + 8)
        if _size(_part(section, middle)) <= allowed:
            fits = middle
        else:
            fails = middle
    return fits, _part(section, fits)


def _part(section: TableSection, count: int) -> dict[str, Any]:
    rows = section.rows[:count]
    if rows and isinstance(rows[0], str):
        return {section.name: by_directory(rows)}
    return {section.name: list(rows)}


def by_directory(paths: Sequence[str]) -> dict[str, list[str]]:
    """`{directory: [names]}`: a directory is spelled once, however many of its files are named."""
    names_by_directory: dict[str, list[str]] = {}
    for path in paths:
        directory, _, name = path.rpartition("/")
        names_by_directory.setdefault(directory or ".", []).append(name)
    return names_by_directory


def _size(part: dict[str, Any]) -> int:
    return len(toons.dumps(part).encode()) + 1
