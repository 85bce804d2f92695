"""The route files of a knowledge base, each read once for as long as it stays the same.

Asking by words looks at all of them, and reading a thousand takes seconds. What they say is kept in the user's
cache, with what tells whether a file changed; and beside it the index of their words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from samuel.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.files.survey import Signature, signature_if_exists
from samuel.knowledge.model import RouteFile, TopicEntry
from samuel.knowledge.routes import read_routes
from samuel.version import __version__


class _Kept(msgspec.Struct, array_like=True):
    signature: Signature
    said: RouteFile


_decode = msgpack_decoder(dict[str, _Kept])


class RouteCache:
    """Those below one routing root; without a cache, which is a directory, each is read anew."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self._root = root
        self._file = cache and cache / "knowledge" / f"{file_cache.digest_of(str(root.absolute()))}.msgpack"
        self._seen: dict[str, Signature] = {}

    @property
    def index(self) -> Path | None:
        """Where the index of their words is kept."""
        return self._file and self._file.with_suffix(".sqlite")

    def stamp(self, indexes: Iterable[TopicEntry]) -> str:
        """Changes when any of these does, or its file, as it was when it was read."""
        parts = (f"{index}{self._seen.get(index.route_file)}" for index in indexes)
        return file_cache.digest_of(__version__, *parts)

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
        return signature_if_exists(f"{self._root}/{path}")

    def _recalled(self) -> dict[str, _Kept]:
        return file_cache.load(self._file, _decode, __version__) or {}

    def _remember(self, known: dict[str, _Kept]) -> None:
        there = {path: kept for path, kept in known.items() if self._signature(path)}
        file_cache.save(self._file, there, msgspec.msgpack.encode, __version__)
