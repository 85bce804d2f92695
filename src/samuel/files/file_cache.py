"""Derived values in files of the user's cache or state directory, good while what they depend on stays the same.

A cache file that is missing, damaged, about something else or impossible to write costs time and is never an
error. Only its owner can read it, since it tells the names and contents of projects.

A stamp says what a value depends on: usually the version of Samuel, the signatures of files (`survey.py`) or
settings. A value is given back only for the stamp that it was saved with.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from samuel.files.regular import LARGEST, open_regular, read_at_most

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")

_CHECKSUM, _DIGEST = 4, 32  # bytes in front of the value: of all that follows, and of the stamp


def load(file: Path | str | None, decode: Callable[[memoryview], T], stamp: str = "") -> T | None:
    """The value that was saved with this stamp, or None. Without a file nothing is cached."""
    try:
        data = _read(file) if file else b""
        body = memoryview(data)[_CHECKSUM:]
        whole = data[:_CHECKSUM] == _checksum(body)  # written without fsync, so a power cut may tear it
        return decode(body[_DIGEST:]) if whole and body[:_DIGEST] == _digest(stamp) else None
    except (OSError, ValueError, TypeError, EOFError, RecursionError):  # what decoders raise for other values
        return None


def save(file: Path | str | None, value: T, encode: Callable[[T], bytes], stamp: str = "") -> None:
    """Replace what `file` holds, if it can be written and the value is not too large."""
    if file is None:
        return
    from pathlib import Path  # deferred: loading needs none of this

    from samuel.files import atomic  # deferred, too

    try:
        body = _digest(stamp) + encode(value)
        data = _checksum(body) + body
        file = Path(file)
        if len(data) <= LARGEST and not (file.exists() and _read(file) == data):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.write_bytes(file, data, 0o600, durable=False)
    except (OSError, ValueError, TypeError):  # ValueError: also for a name that is not UTF-8
        pass


def digest_of(*parts: str) -> str:
    """32 hexadecimal digits for these texts: the name of a cache file, a key or a stamp."""
    from hashlib import sha256  # a value that is loaded needs no digest

    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _read(file: Path | str) -> bytes:
    fd = open_regular(file)
    try:
        return read_at_most(fd, LARGEST) if os.fstat(fd).st_size <= LARGEST else b""
    finally:
        os.close(fd)


def _checksum(body: bytes | memoryview) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECKSUM, "big")


def _digest(stamp: str) -> bytes:
    if not stamp:
        return bytes(_DIGEST)
    from hashlib import sha256  # the values that `emit` needs first have no stamp

    return sha256(stamp.encode("utf-8", "surrogateescape")).digest()
