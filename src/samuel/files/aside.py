"""Moving something out of the way without losing it: into the directory `aside` beside it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from samuel.files import atomic

DIRECTORY = "aside"


def put_aside(directory: Path, name: str) -> str:
    """Rename `directory/name`, whatever it is; gives where it lies now, relative to `directory`."""
    place = _place(directory)
    target = next(_names(place, os.path.basename(name)))
    os.rename(directory / name, place / target)
    return f"{DIRECTORY}/{target}"


def keep_aside(directory: Path, name: str, content: bytes) -> str:
    """Write a copy of a file that is about to be replaced; gives where it lies, relative to `directory`."""
    place = _place(directory)
    target = next(_names(place, name))
    atomic.write_bytes(place / target, content, 0o600, durable=False)
    return f"{DIRECTORY}/{target}"


def _place(directory: Path) -> Path:
    place = directory / DIRECTORY
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            os.unlink(place)
    place.mkdir(exist_ok=True)
    return place


def _names(place: Path, name: str) -> Iterator[str]:
    number = 1
    while True:
        if not os.path.lexists(place / f"{name}.{number}"):
            yield f"{name}.{number}"
        number += 1
