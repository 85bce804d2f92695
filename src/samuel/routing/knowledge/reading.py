"""Read the files of a knowledge base: ROUTING.md, the route files that it names, and documents.

ROUTING.md has the list of topics, each with the file that holds its routes. The list is the key `route_indexes` of
the front matter, or of one fenced block of `yaml`: some tools show front matter as a table, which is hard to read.

A route file says in which situation which documents help. It is two YAML documents, what the file is about and
then `routes`, or one document with both.

A document is any file below the routing root. The front matter of a Markdown file helps to choose it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache as memoize
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.files import file_cache, frontmatter, yaml
from samuel.files.survey import signature_if_exists
from samuel.routing.knowledge.model import (
    FILE,
    DocumentHeader,
    KnowledgeBase,
    RelatedDoc,
    Route,
    RouteFile,
    TopicEntry,
)
from samuel.routing.knowledge.values import FileProblems, Values, open_file, read_contents
from samuel.version import __version__

PLACES = ("", "knowledge", "docs")
"""Where a project may have its ROUTING.md: the first that has one is the routing root."""

LARGEST_BASE = 512 * 1024  # bytes
MOST_TOPICS = 1000  # indexes
LARGEST_ROUTES = 256 * 1024  # bytes
MOST_ROUTES = 200  # routes of one file
MOST_DOCS = 50  # documents of one route
KEY = "route_indexes"

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(\S*)")
_HINT = f"begin the file with `---`, `{KEY}:`, the list, `---`; or put it into a block fenced with ```yaml"


def find_root(project: Path) -> Path | None:
    """The routing root of a project, if it has one."""
    for place in PLACES:
        if (project / place / FILE).is_file():
            return project / place
    return None


def read_base(root: Path) -> KnowledgeBase:
    """The knowledge base of the ROUTING.md in `root`, without wrong entries. ConfigError if it has no list."""
    file = str(root / FILE)
    if not (root / FILE).exists():
        raise SamuelError(f"there is no {FILE} in `{root}`", f"write one with a list `{KEY}` in its front matter")
    text = yaml.decoded(read_contents(root, FILE, LARGEST_BASE), file)
    blocks = [block for block in _blocks(text, file) if _names_key(block.text)]
    if not blocks:
        raise ConfigError([Problem(f"there is no `{KEY}` in it", file, 1, _HINT)])
    document = yaml.load(blocks[0].text.encode(), file, first_line=blocks[0].line)
    notes = FileProblems(Path(file), document.lines)
    indexes = _topics(Values(notes, document.mapping(), ()))
    twice = tuple(
        Problem(f"a second `{KEY}` is not read", file, more.line, "join the lists") for more in blocks[1:]
    )
    return KnowledgeBase(root, tuple(indexes), (*notes.problems(), *twice))


class _Block(NamedTuple):
    text: str
    line: int
    """The number of its first line, from 1."""


def _blocks(text: str, file: str) -> Iterator[_Block]:
    """The front matter, then every block that is fenced as YAML."""
    lines = text.splitlines(keepends=True)
    at = 0
    if lines and lines[0].rstrip() == "---":
        end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
        if not end:
            raise ConfigError([Problem("the front matter is not closed", file, 1, "end it with a line `---`")])
        yield _Block("".join(lines[1:end]), 2)
        at = end + 1
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        at += 1
        if not fence:
            continue
        first = at
        while at < len(lines) and not _closes(lines[at], fence[1]):
            at += 1
        if fence[2].lower() in ("yaml", "yml"):
            yield _Block("".join(lines[first:at]), first + 1)
        at += 1


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(fence) and not stripped.strip(fence[0])


def _names_key(block: str) -> bool:
    return re.search(rf"^{KEY}[ \t]*:", block, re.MULTILINE) is not None


def _topics(head: Values) -> Iterator[TopicEntry]:
    # The other keys of the front matter belong to other tools that read ROUTING.md.
    for entry in head.entries(KEY, MOST_TOPICS):
        index = TopicEntry(
            entry.text("scope", needed=True),
            entry.text("topic", needed=True),
            entry.text("summary", needed=True),  # it is found by its words
            entry.path_at("route_file"),
            entry.line(),
        )
        entry.refuse_unread()
        if index.scope and index.topic and index.route_file:
            yield index


def read_routes(root: Path, path: str) -> RouteFile:
    """The routes of a file, and its problems: a broken file has no routes and does not affect others."""
    file = str(root / path)
    try:
        data = read_contents(root, path, LARGEST_ROUTES)
    except ConfigError as error:
        return RouteFile(path, readable=False, problems=error.problems)
    try:
        documents = yaml.load_all(data, file, most=2)
        mappings = [document.mapping() for document in documents]
    except ConfigError as error:
        return RouteFile(path, problems=error.problems)
    notes = [FileProblems(Path(file), document.lines) for document in documents]
    parts = [Values(note, mapping, ()) for note, mapping in zip(notes, mappings, strict=True)]
    head, body = parts[0], parts[-1]
    lines = {key: head.line(key) for key in ("scope", "topic")}
    result = RouteFile(path, head.text("scope"), head.text("topic"), lines=lines)
    for key in ("id", "doc_type", "summary"):
        head.text(key)  # checked only: they are for people and other tools
    routes = tuple(_routes(body))
    if "routes" not in mappings[-1]:
        body.note("`routes` is missing", "add a list `routes:` of `when_to_use` and `related_docs`")
    for values in parts:
        values.refuse_unread()
    return result._replace(routes=routes, problems=tuple(problem for note in notes for problem in note.problems()))


def _routes(body: Values) -> Iterator[Route]:
    for entry in body.entries("routes", MOST_ROUTES):
        when = entry.text("when_to_use", needed=True)
        documents = tuple(_related(entry))
        if not documents:
            entry.note("this route leads to no document", "add `related_docs:` with a `path`")
        entry.refuse_unread()
        if documents:
            yield Route(when, documents, entry.line())


def _related(route: Values) -> Iterator[RelatedDoc]:
    for entry in route.entries("related_docs", MOST_DOCS):
        related = RelatedDoc(
            entry.path_at("path"), entry.stages("stage"), entry.text("doc_usage"), entry.line("path")
        )
        entry.refuse_unread()
        if related.path:
            yield related


def is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


def read_document(root: Path, path: str) -> DocumentHeader:
    """The front matter of a document; empty, with the problems, where it is wrong."""
    file = str(root / path)
    try:
        data = read_contents(root, path, frontmatter.LARGEST) if is_markdown(path) else _check_readable(root, path)
    except ConfigError as error:
        return DocumentHeader(path, readable=False, problems=error.problems)
    try:
        parsed = frontmatter.parse(data, file)
    except ConfigError as error:
        return DocumentHeader(path, problems=error.problems)
    lines = yaml.YamlLines({(): 1, **{(key,): line for key, line in parsed.lines.items()}})
    notes = FileProblems(Path(file), lines)
    values = Values(notes, dict(parsed.head), ())
    document = DocumentHeader(
        path,
        id=values.text("id"),
        doc_type=values.text("doc_type"),
        scope=values.text("scope"),
        topics=values.texts("topics"),
        stages=values.stages("stages"),
        summary=values.text("summary"),
        lines=parsed.lines,
    )
    values.refuse_misspelt()  # other keys are for other tools
    return document._replace(problems=notes.problems())


def _check_readable(root: Path, path: str) -> bytes:
    """Check that a file other than Markdown can be opened. It may be large or binary, so it is not read."""
    os.close(open_file(root, path))
    return b""


class _CachedRoutes(msgspec.Struct, array_like=True):
    state: str
    """What the file was when it was read."""
    routes: RouteFile


_decode = msgpack_decoder(dict[str, _CachedRoutes])


class RouteCache:
    """The route files of a knowledge base. Without a cache directory each is parsed every time.

    A question by words needs all of them, and parsing a thousand takes seconds. The parsed routes are in the
    user's cache, with the state of each file, next to the full-text index.
    """

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
