"""Every problem of a knowledge base, with file and line. Nothing is changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import Problem
from samuel.base.nearest import SpellingHints
from samuel.routing.knowledge.model import FILE, KnowledgeBase, RelatedDoc, RouteFile, TopicEntry
from samuel.routing.knowledge.reading import is_markdown, read_document, read_routes
from samuel.routing.knowledge.topics import covers, listed

ROUTES = "routes"
"""The usual directory of route files. Directories of other route files are searched as well."""

MOST = 20_000  # entries of directories
DEEPEST = 12
IGNORED = frozenset({"node_modules", "__pycache__"})
"""Directories of generated or third-party files. Hidden ones are skipped as well."""


class _Mention(NamedTuple):
    """One route that names a document."""

    under: TopicEntry
    file: RouteFile
    related: RelatedDoc


def lint(base: KnowledgeBase) -> list[Problem]:
    """Every problem: ROUTING.md first, then route files in its order, documents, and files that no route names."""
    checks = _Checks(base)
    return [
        *base.problems,
        *checks.repeated_topics(),
        *checks.missing_route_files(),
        *(problem for file in checks.files.values() if file.readable for problem in file.problems),
        *checks.disagreeing_route_files(),
        *checks.missing_documents(),
        *(problem for document in checks.documents.values() if document.readable for problem in document.problems),
        *checks.disagreeing_documents(),
        *checks.orphans(),
    ]


class _Checks:
    def __init__(self, base: KnowledgeBase) -> None:
        self._base = base
        self.files = {index.route_file: read_routes(base.root, index.route_file) for index in base.indexes}
        self._mentions: dict[str, list[_Mention]] = {}
        for index in base.indexes:
            file = self.files[index.route_file]
            for related in (related for route in file.routes for related in route.related_docs):
                self._mentions.setdefault(related.path, []).append(_Mention(index, file, related))
        self.documents = {path: read_document(base.root, path) for path in sorted(self._mentions)}
        self._below, self._complete = _files_below(base.root)

    def repeated_topics(self) -> Iterator[Problem]:
        first: dict[tuple[str, str], int] = {}
        for index in self._base.indexes:
            key = index.scope, index.topic
            if key in first:
                what = f"`{index.scope}` and `{index.topic}` are already in line {first[key]}"
                yield self._problem(FILE, index.line, what, "join their route files")
            first.setdefault(key, index.line)

    def missing_route_files(self) -> Iterator[Problem]:
        for index in self._base.indexes:
            if not (file := self.files[index.route_file]).readable:
                what = f"the route file `{index.route_file}` cannot be used: {file.problems[0].what}"
                yield self._problem(FILE, index.line, what, file.problems[0].hint)

    def disagreeing_route_files(self) -> Iterator[Problem]:
        for index in self._base.indexes:
            file = self.files[index.route_file]
            for key, here, there in (("scope", file.scope, index.scope), ("topic", file.topic, index.topic)):
                if here and here != there:
                    what = f"its {key} is `{here}`, and {FILE} has it under `{there}`"
                    yield self._problem(file.path, file.lines[key], what, "make them the same")

    def missing_documents(self) -> Iterator[Problem]:
        hints = SpellingHints()
        for path, mentions in self._mentions.items():
            if (document := self.documents[path]).readable:
                continue
            hint = document.problems[0].hint or self._nearest(path, mentions[0].file.path, hints)
            for file, line in dict.fromkeys((mention.file.path, mention.related.line) for mention in mentions):
                what = f"the document `{path}` cannot be used: {document.problems[0].what}"
                yield self._problem(file, line, what, hint)

    def _nearest(self, path: str, route_file: str, hints: SpellingHints) -> str:
        beside = f"{os.path.dirname(route_file)}/{path}".removeprefix("/")
        if (self._base.root / beside).is_file():
            return f"paths are from the directory of {FILE}: write `/{beside}`"
        paths = (f"/{file}" for file in self._below if is_markdown(file))
        return hints.did_you_mean(f"/{path}", paths, "write it, or remove the entry")

    def disagreeing_documents(self) -> Iterator[Problem]:
        """Documents whose scope or topics agree with none of the routes to them. One that agrees is enough."""
        for path, document in self.documents.items():
            indexes = [mention.under for mention in self._mentions[path]]
            if document.scope and not any(covers(document.scope, index.scope) for index in indexes):
                scopes = listed(index.scope for index in indexes)
                what = f"its scope is `{document.scope}`, and the routes to it are of {scopes}"
                yield self._problem(path, document.lines.get("scope", 0), what, "make them the same")
            if document.topics and not any(index.topic in document.topics for index in indexes):
                topics = listed(index.topic for index in indexes)
                what = f"its topics leave out that of the routes to it: {topics}"
                yield self._problem(path, document.lines.get("topics", 0), what, "add it to `topics`")

    def orphans(self) -> Iterator[Problem]:
        """Route files and documents that nothing names."""
        places = {ROUTES, *(os.path.dirname(path) for path in self.files)} - {""}
        for path in self._below:
            if path.endswith((".yaml", ".yml")) and os.path.dirname(path) in places and path not in self.files:
                hint = f"add it to `route_indexes` in {FILE}, or remove it"
                yield self._problem(path, 0, f"no index of {FILE} names this route file", hint)
        root = self._base.root
        for path in (path for path in self._below if is_markdown(path) and path != FILE):
            if path not in self.documents and read_document(root, path).doc_type:
                hint = "add it to `related_docs` of a route, or remove `doc_type`"
                yield self._problem(path, 1, "no route names this document", hint)
        if not self._complete:
            what = f"it has more than {MOST} files, so unnamed files may be missing from this list"
            yield self._problem("", 0, what, f"give the knowledge a directory with its own {FILE}")

    def _problem(self, path: str, line: int, what: str, hint: str) -> Problem:
        return Problem(what, str(self._base.root / path), line, hint)


def _files_below(root: Path) -> tuple[list[str], bool]:
    """The files below `root` by name, without symbolic links, and whether these are all of them.

    Those below another ROUTING.md are left out: that is a knowledge base of its own.
    """
    files: list[str] = []
    for path in _walk(root, "", 0):
        if len(files) == MOST:
            return files, False
        files.append(path)
    return files, True


def _walk(root: Path, directory: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(root / directory) as entries:
            by_name = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    if directory and any(entry.name == FILE for entry in by_name):
        return
    for entry in by_name:
        path = f"{directory}{entry.name}"
        if entry.name.startswith(".") or not entry.name.isprintable():
            continue
        if entry.is_file(follow_symlinks=False):
            yield path
        elif entry.is_dir(follow_symlinks=False) and entry.name not in IGNORED and depth < DEEPEST:
            yield from _walk(root, f"{path}/", depth + 1)
