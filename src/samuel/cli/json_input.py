"""JSON and text that a command is given: in a file, on stdin, or on the command line itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from samuel.errors import UsageError
from samuel.files.json import InvalidJson, parse

LARGEST = 16 * 1024 * 1024


def text(said: str) -> str:
    """The text; `-` stands for stdin. What is not UTF-8 in it could be written into no record."""
    found = _stdin().decode(errors="replace") if said == "-" else said
    return found.encode(errors="replace").decode()


def json_object(where: str, option: str) -> Any:
    """The JSON of a file, of stdin (`-`), or of the command line if it begins with a brace."""
    if where.lstrip().startswith("{"):
        data, name = where.encode(errors="replace"), f"`{option}`"
    elif where == "-":
        data, name = _stdin(), "stdin"
    else:
        data, name = _file(where, option), f"`{where}`"
    try:
        return parse(data)
    except InvalidJson as error:
        raise UsageError(f"{name}: {error}", 'write an object like {"name": "value"}') from None


def _file(where: str, option: str) -> bytes:
    try:
        with Path(where).open("rb") as file:
            return _limited(file.read(LARGEST + 1), f"`{where}`")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = f"`{option}` takes a file, `-` for stdin, or the JSON itself"
        raise UsageError(f"`{where}` cannot be read: {why}", hint) from None


def _stdin() -> bytes:
    return _limited(sys.stdin.buffer.read(LARGEST + 1), "stdin")


def _limited(data: bytes, name: str) -> bytes:
    if len(data) > LARGEST:
        raise UsageError(f"{name} is larger than {LARGEST} bytes", "give less")
    return data
