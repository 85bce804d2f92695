"""The route files of a knowledge base, each read once for as long as it stays the same.

Asking by words looks at all of them, and reading a thousand takes seconds. What they say is kept in the user's
cache, with what tells whether a file changed; and beside it the index of their words.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from samuel.decoding import msgpack_decoder
from samuel.files import atomic
from samuel.files.survey import Signature, signature
from samuel.knowledge.model import RouteFile, TopicEntry
from samuel.knowledge.routes import read_routes
from samuel.version import __version__


class _Kept(msgspec.Struct, array_like=True):
    signature: Signature
    said: RouteFile


class _Stored(msgspec.Struct, array_like=True):
    version: str = __version__
    files: dict[str, _Kept] = {}


_decode = msgpack_decoder(_Stored)


class RouteCache:
    """Those below one routing root; without a cache, which is a directory, each is read anew."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self._root = root
        self._place = cache and cache / "knowledge" / _digest(str(root.absolute()))
        self._seen: dict[str, Signature] = {}

    @property
    def index(self) -> Path | None:
        """Where the index of their words is kept."""
        return self._place and self._place.with_suffix(".sqlite")

    def stamp(self, indexes: Iterable[TopicEntry]) -> str:
        """Changes when any of these does, or its file, as it was when it was read."""
        return _digest(__version__, *(f"{index}{self._seen.get(index.route_file)}" for index in indexes))

    def read(self, paths: Iterable[str]) -> dict[str, RouteFile]:
        """What each of these says, by path."""
        known = self._recalled()
        paths = list(dict.fromkeys(paths))
        plain = self._plain_places(paths)
        found: dict[str, RouteFile] = {}
        changed = False
        for path in paths:
            self._seen[path] = seen = self._signature(path)  # before it is read: what changes after that is seen
            kept = known.get(path)
            if kept is None or kept.signature != seen or os.path.dirname(path) not in plain:
                kept = _Kept(seen, read_routes(self._root, path))
                if kept.said.readable:
                    known[path] = kept
                    changed = True
            found[path] = kept.said
        if changed:
            self._remember(known)
        return found

    def _plain_places(self, paths: Iterable[str]) -> set[str]:
        """The directories of files to which no link leads: what is behind one is refused by reading."""
        above = Path(os.path.realpath(self._root))
        places = {os.path.dirname(path) for path in paths}
        return {place for place in places if Path(os.path.realpath(self._root / place)) == above / place}

    def _signature(self, path: str) -> Signature:
        try:
            return signature(os.lstat(f"{self._root}/{path}"))
        except OSError:
            return ()

    def _recalled(self) -> dict[str, _Kept]:
        try:
            stored = _decode(self._place.with_suffix(".msgpack").read_bytes()) if self._place else _Stored()
        except (OSError, ValueError, RecursionError):  # msgspec's own errors are ValueErrors
            return {}
        return stored.files if stored.version == __version__ else {}

    def _remember(self, known: dict[str, _Kept]) -> None:
        if self._place is None:
            return
        there = {path: kept for path, kept in known.items() if self._signature(path)}
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            data = msgspec.msgpack.encode(_Stored(files=there))
            atomic.write_bytes(self._place.with_suffix(".msgpack"), data, 0o600, durable=False)
        except (OSError, UnicodeEncodeError):
            pass  # reading again next time is all that is lost


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
