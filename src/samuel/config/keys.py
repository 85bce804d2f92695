"""How a key is written: bare where TOML allows it, quoted elsewhere, and never able to disturb a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

KeyPath = tuple[str | int, ...]
"""Where a value stands: keys from the outside in, with a number for an item of an array."""

LONGEST = 80

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def is_bare(key: str) -> bool:
    return _BARE.fullmatch(key) is not None


def shown(text: str) -> str:
    """`text` for a message, which it must not flood: a key may be as long as the file."""
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def printable(text: str) -> str:
    """`text` with TOML's escapes for what a terminal might act on."""
    return text if text.isprintable() else "".join(_escaped(character) for character in text)


def quoted(key: str) -> str:
    return '"' + printable(key.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def written(key: str) -> str:
    return key if is_bare(key) else quoted(key)


def dotted(path: Sequence[str | int]) -> str:
    """`hooks."quality.check".handlers[0]`"""
    parts = (f"[{part}]" if isinstance(part, int) else f".{written(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return f"\\u{ord(character):04X}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08X}"
