"""Where a value stands in a JSON text. What is not on the way to it is skipped by the standard parser.

A reader needs the line of each task for its messages, and write-back the place of one field, so that every other
byte stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


class JsonPlace(NamedTuple):
    key: str | int
    start: int  # of the value
    end: int


def members(text: str, start: int) -> Iterator[JsonPlace]:
    """The members of the object or array at `start`. Raises ValueError or RecursionError for what is no JSON."""
    start = _skip(text, start)
    opening = text[start : start + 1]
    if opening not in ("{", "["):
        return
    closing = "}" if opening == "{" else "]"
    position, number = _skip(text, start + 1), 0
    while text[position : position + 1] != closing:
        key: str | int = number
        if opening == "{":
            key, position = _decode(text, position)
            position = _skip(text, position)
            if text[position : position + 1] != ":":
                raise ValueError("no colon after a key")
            position = _skip(text, position + 1)
        _, end = _decode(text, position)
        yield JsonPlace(key, position, end)
        number += 1
        position = _skip(text, end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            raise ValueError("no comma after a value")


def place_of(text: str, path: Sequence[str | int], start: int = 0) -> JsonPlace | None:
    """The value at `path` below the one at `start`; None if there is none."""
    try:
        place = JsonPlace("", _skip(text, start), len(text))
        for step in path:
            matching = [member for member in members(text, place.start) if member.key == step]
            if not matching:
                return None
            place = matching[-1]  # of a key that is there twice, every parser takes the last
    except (ValueError, RecursionError):
        return None
    return place


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
