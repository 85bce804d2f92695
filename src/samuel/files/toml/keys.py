"""TOML keys as text: bare where TOML allows it, else quoted, and without control characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

KeyPath = tuple[str | int, ...]
"""The path of a value: keys from the outside in, with a number for an item of an array."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def is_bare(key: str) -> bool:
    return _BARE.fullmatch(key) is not None


def quoted(key: str) -> str:
    return '"' + "".join(map(_escaped, key.replace("\\", "\\\\").replace('"', '\\"'))) + '"'


def toml_key(key: str) -> str:
    return key if is_bare(key) else quoted(key)


def dotted(path: Sequence[str | int]) -> str:
    """`hooks."quality.check".handlers[0]`"""
    parts = (f"[{part}]" if isinstance(part, int) else f".{toml_key(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _escaped(character: str) -> str:
    """TOML has no `\\x1b`, which `printable.safe` writes."""
    if character.isprintable():
        return character
    return f"\\u{ord(character):04X}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08X}"
