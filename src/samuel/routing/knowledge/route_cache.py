"""The route files of a knowledge base, parsed again only when they change.

A question by words needs all of them, and parsing a thousand takes seconds. The parsed routes are in the user's
cache, with a signature of each file, next to the full-text index.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.files.survey import Signature, signature_if_exists
from samuel.routing.knowledge.model import RouteFile, TopicEntry
from samuel.routing.knowledge.routes import read_routes
from samuel.version import __version__


class _CachedRoutes(msgspec.Struct, array_like=True):
    signature: Signature
    routes: RouteFile


_decode = msgpack_decoder(dict[str, _CachedRoutes])


class RouteCache:
    """The route files below one routing root. Without a cache directory each is parsed every time."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self._root = root
        self._file = cache and cache / "knowledge" / f"{file_cache.digest_of(str(root.absolute()))}.msgpack"
        self._signatures: dict[str, Signature] = {}

    @property
    def index(self) -> Path | None:
        """The file of the full-text index."""
        return self._file and self._file.with_suffix(".sqlite")

    def stamp(self, indexes: Iterable[TopicEntry]) -> str:
        """Changes when an entry or its route file changes; a file counts as it was when it was read."""
        parts = (f"{index}{self._signatures.get(index.route_file)}" for index in indexes)
        return file_cache.digest_of(__version__, *parts)

    def read(self, paths: Iterable[str]) -> dict[str, RouteFile]:
        """The routes of each file, by path."""
        cached = self._load()
        paths = list(dict.fromkeys(paths))
        unlinked = self._unlinked_directories(paths)
        files: dict[str, RouteFile] = {}
        changed = False
        for path in paths:
            self._signatures[path] = signature = self._signature(
                path
            )  # before reading, so that a later change is noticed
            entry = cached.get(path)
            if entry is None or entry.signature != signature or os.path.dirname(path) not in unlinked:
                entry = _CachedRoutes(signature, read_routes(self._root, path))
                if entry.routes.readable:
                    cached[path] = entry
                    changed = True
            files[path] = entry.routes
        if changed:
            self._save(cached)
        return files

    def _unlinked_directories(self, paths: Iterable[str]) -> set[str]:
        """The directories that no symbolic link leads to: a file behind a link must be read, which refuses it."""
        above = Path(os.path.realpath(self._root))
        places = {os.path.dirname(path) for path in paths}
        return {place for place in places if Path(os.path.realpath(self._root / place)) == above / place}

    def _signature(self, path: str) -> Signature:
        return signature_if_exists(f"{self._root}/{path}")

    def _load(self) -> dict[str, _CachedRoutes]:
        return file_cache.load(self._file, _decode, __version__) or {}

    def _save(self, cached: dict[str, _CachedRoutes]) -> None:
        existing = {path: entry for path, entry in cached.items() if self._signature(path)}
        file_cache.save(self._file, existing, msgspec.msgpack.encode, __version__)
