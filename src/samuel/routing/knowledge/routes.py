"""A route file: in which situation which documents help.

It is two YAML documents, what the file is about and then `routes`, or one document with both.

A question by words needs all route files, and parsing a thousand takes seconds. The parsed routes are in the
user's cache, with a signature of each file, next to the full-text index.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache as memoize
from pathlib import Path

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.base.errors import ConfigError
from samuel.files import file_cache, yaml
from samuel.files.survey import signature_if_exists
from samuel.routing.knowledge.model import KnowledgeBase, RelatedDoc, Route, RouteFile
from samuel.routing.knowledge.values import FileProblems, Values, read_contents
from samuel.version import __version__

LARGEST = 256 * 1024  # bytes
MOST = 200  # routes of one file
MOST_DOCS = 50  # documents of one route


def read_routes(root: Path, path: str) -> RouteFile:
    """The routes of a file, and its problems: a broken file has no routes and does not affect others."""
    file = str(root / path)
    try:
        data = read_contents(root, path, LARGEST)
    except ConfigError as error:
        return RouteFile(path, readable=False, problems=error.problems)
    try:
        documents = yaml.load_all(data, file, most=2)
        mappings = [document.mapping() for document in documents]
    except ConfigError as error:
        return RouteFile(path, problems=error.problems)
    notes = [FileProblems(file, document.lines.of) for document in documents]
    parts = [Values(note, mapping) for note, mapping in zip(notes, mappings, strict=True)]
    head, body = parts[0], parts[-1]
    lines = {key: head.line(key) for key in ("scope", "topic")}
    result = RouteFile(path, head.text("scope"), head.text("topic"), lines=lines)
    for key in ("id", "doc_type", "summary"):
        head.text(key)  # checked only: they are for people and other tools
    routes = tuple(_routes(body))
    if "routes" not in mappings[-1]:
        body.note(None, "`routes` is missing", "add a list `routes:` of `when_to_use` and `related_docs`")
    for values in parts:
        values.refuse_unread()
    return result._replace(routes=routes, problems=tuple(problem for note in notes for problem in note.problems()))


def _routes(body: Values) -> Iterator[Route]:
    for entry in body.entries("routes", MOST):
        when = entry.text("when_to_use", needed=True)
        documents = tuple(_related(entry))
        if not documents:
            entry.note(None, "this route leads to no document", "add `related_docs:` with a `path`")
        entry.refuse_unread()
        if documents:
            yield Route(when, documents, entry.line())


def _related(route: Values) -> Iterator[RelatedDoc]:
    for entry in route.entries("related_docs", MOST_DOCS):
        related = RelatedDoc(
            entry.path("path"), entry.stages("stage"), entry.text("doc_usage"), entry.line("path")
        )
        entry.refuse_unread()
        if related.path:
            yield related


class _CachedRoutes(msgspec.Struct, array_like=True):
    state: str
    """What the file was when it was read."""
    routes: RouteFile


_decode = msgpack_decoder(dict[str, _CachedRoutes])


class RouteCache:
    """The route files of a knowledge base. Without a cache directory each is parsed every time."""

    def __init__(self, base: KnowledgeBase, cache: Path | None = None) -> None:
        self._base = base
        self._file = cache and cache / "knowledge" / f"{file_cache.digest_of(str(base.root.absolute()))}.msgpack"
        self._states: dict[str, str] = {}
        self._real_directory = memoize(lambda directory: os.path.realpath(base.root / directory))

    @property
    def index(self) -> Path | None:
        """The file of the full-text index."""
        return self._file and self._file.with_suffix(".sqlite")

    @property
    def stamp(self) -> str:
        """Changes when a topic or its route file changes; a file counts as it was when it was read."""
        parts = (f"{index}{self._states.get(index.route_file)}" for index in self._base.indexes)
        return file_cache.digest_of(__version__, *parts)

    def read(self, paths: Iterable[str]) -> dict[str, RouteFile]:
        """The routes of each file, by path."""
        cached = file_cache.load(self._file, _decode, __version__) or {}
        entries: dict[str, _CachedRoutes] = {}
        for path in dict.fromkeys(paths):
            state = self._states[path] = self._state(path)  # before reading, so that a later change is noticed
            entry = cached.get(path)
            if entry is None or entry.state != state:
                entry = _CachedRoutes(state, read_routes(self._base.root, path))
            entries[path] = entry
        named = {index.route_file for index in self._base.indexes}
        new = {path: entry for path, entry in {**cached, **entries}.items() if path in named}
        new = {path: entry for path, entry in new.items() if entry.routes.readable}
        if new != cached:
            file_cache.save(self._file, new, msgspec.msgpack.encode, __version__)
        return {path: entry.routes for path, entry in entries.items()}

    def _state(self, path: str) -> str:
        """The signature of a file and where it really is: behind a link it must be read, which refuses it."""
        directory = self._real_directory(os.path.dirname(path))
        return f"{signature_if_exists(self._base.root / path)} {directory}"
