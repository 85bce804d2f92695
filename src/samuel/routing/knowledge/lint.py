"""Every problem of a knowledge base, with file and line. Nothing is changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import Problem
from samuel.base.nearest import SpellingHints
from samuel.routing.knowledge.documents import is_markdown, read_document
from samuel.routing.knowledge.model import FILE, DocumentHeader, KnowledgeBase, RelatedDoc, RouteFile, TopicEntry
from samuel.routing.knowledge.routes import read_routes
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
    files = {index.route_file: read_routes(base.root, index.route_file) for index in base.indexes}
    named: dict[str, list[_Mention]] = {}
    for index in base.indexes:
        for route in files[index.route_file].routes:
            for related in route.related_docs:
                named.setdefault(related.path, []).append(_Mention(index, files[index.route_file], related))
    documents = {path: read_document(base.root, path) for path in sorted(named)}
    files_below = survey(base.root)
    return [
        *base.problems,
        *_repeated_topics(base),
        *_missing_route_files(base, files),
        *(problem for file in files.values() if file.readable for problem in file.problems),
        *_disagreeing_route_files(base, files),
        *_missing_documents(base, named, documents, files_below),
        *(problem for document in documents.values() if document.readable for problem in document.problems),
        *_disagreeing_documents(base, named, documents),
        *_orphan_route_files(base, files, files_below),
        *_orphan_documents(base, documents, files_below),
        *_unfinished(base, files_below),
    ]


def _repeated_topics(base: KnowledgeBase) -> Iterator[Problem]:
    first: dict[tuple[str, str], int] = {}
    for index in base.indexes:
        key = index.scope, index.topic
        if key in first:
            what = f"`{index.scope}` and `{index.topic}` are already in line {first[key]}"
            yield Problem(what, str(base.root / FILE), index.line, "join their route files")
        first.setdefault(key, index.line)


def _missing_route_files(base: KnowledgeBase, files: dict[str, RouteFile]) -> Iterator[Problem]:
    for index in base.indexes:
        if not (file := files[index.route_file]).readable:
            what = f"the route file `{index.route_file}` cannot be used: {file.problems[0].what}"
            yield Problem(what, str(base.root / FILE), index.line, file.problems[0].hint)


def _disagreeing_route_files(base: KnowledgeBase, files: dict[str, RouteFile]) -> Iterator[Problem]:
    for index in base.indexes:
        file = files[index.route_file]
        for key, here, there in (("scope", file.scope, index.scope), ("topic", file.topic, index.topic)):
            if here and here != there:
                what = f"its {key} is `{here}`, and {FILE} has it under `{there}`"
                yield Problem(what, str(base.root / file.path), file.lines[key], "make them the same")


def _missing_documents(
    base: KnowledgeBase,
    named: dict[str, list[_Mention]],
    documents: dict[str, DocumentHeader],
    files_below: Survey,
) -> Iterator[Problem]:
    hints = SpellingHints()
    for path, mentions in named.items():
        if (document := documents[path]).readable:
            continue
        hint = document.problems[0].hint or _nearest(base.root, path, mentions[0].file.path, files_below, hints)
        for place in dict.fromkeys((mention.file.path, mention.related.line) for mention in mentions):
            what = f"the document `{path}` cannot be used: {document.problems[0].what}"
            yield Problem(what, str(base.root / place[0]), place[1], hint)


def _nearest(root: Path, path: str, route_file: str, files_below: Survey, hints: SpellingHints) -> str:
    beside = f"{os.path.dirname(route_file)}/{path}".removeprefix("/")
    if (root / beside).is_file():
        return f"paths are from the directory of {FILE}: write `/{beside}`"
    paths = (f"/{file}" for file in files_below.files if is_markdown(file))
    return hints.did_you_mean(f"/{path}", paths, "write it, or remove the entry")


def _disagreeing_documents(
    base: KnowledgeBase, named: dict[str, list[_Mention]], documents: dict[str, DocumentHeader]
) -> Iterator[Problem]:
    """Documents whose scope or topics agree with none of the routes to them. One that agrees is enough."""
    for path, document in documents.items():
        indexes = [mention.under for mention in named[path]]
        file = str(base.root / path)
        if document.scope and not any(covers(document.scope, index.scope) for index in indexes):
            what = (
                f"its scope is `{document.scope}`, and the routes to it are of {listed(i.scope for i in indexes)}"
            )
            yield Problem(what, file, document.lines.get("scope", 0), "make them the same")
        if document.topics and not any(index.topic in document.topics for index in indexes):
            what = f"its topics leave out that of the routes to it: {listed(i.topic for i in indexes)}"
            yield Problem(what, file, document.lines.get("topics", 0), "add it to `topics`")


def _orphan_route_files(
    base: KnowledgeBase, files: dict[str, RouteFile], files_below: Survey
) -> Iterator[Problem]:
    places = {ROUTES, *(os.path.dirname(path) for path in files)} - {""}
    for path in files_below.files:
        if path.endswith((".yaml", ".yml")) and os.path.dirname(path) in places and path not in files:
            hint = f"add it to `route_indexes` in {FILE}, or remove it"
            yield Problem(f"no index of {FILE} names this route file", str(base.root / path), 0, hint)


def _orphan_documents(
    base: KnowledgeBase, documents: dict[str, DocumentHeader], files_below: Survey
) -> Iterator[Problem]:
    for path in files_below.files:
        if (
            is_markdown(path)
            and path not in documents
            and path != FILE
            and read_document(base.root, path).doc_type
        ):
            what = "no route names this document"
            yield Problem(
                what, str(base.root / path), 1, "add it to `related_docs` of a route, or remove `doc_type`"
            )


def _unfinished(base: KnowledgeBase, files_below: Survey) -> Iterator[Problem]:
    if not files_below.complete:
        what = f"it has more than {MOST} files, so unnamed files may be missing from this list"
        yield Problem(what, str(base.root), 0, f"give the knowledge a directory with its own {FILE}")


class Survey(NamedTuple):
    files: tuple[str, ...]
    """Paths from the root, by name, without symbolic links."""
    complete: bool


def survey(root: Path) -> Survey:
    """The files below `root`, but not below another ROUTING.md: that is a knowledge base of its own."""
    files: list[str] = []
    for path in _files(root, "", 0):
        if len(files) == MOST:
            return Survey(tuple(files), complete=False)
        files.append(path)
    return Survey(tuple(files), complete=True)


def _files(root: Path, directory: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(root / directory) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    if directory and any(entry.name == FILE for entry in listed):
        return
    for entry in listed:
        path = f"{directory}{entry.name}"
        if entry.name.startswith(".") or not entry.name.isprintable():
            continue
        if entry.is_file(follow_symlinks=False):
            yield path
        elif entry.is_dir(follow_symlinks=False) and entry.name not in IGNORED and depth < DEEPEST:
            yield from _files(root, f"{path}/", depth + 1)
