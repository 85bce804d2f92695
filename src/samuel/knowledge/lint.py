"""What is wrong with a knowledge base: all of it, with file and line, and nothing changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.errors import Problem
from samuel.knowledge.documents import is_markdown, read_document
from samuel.knowledge.model import FILE, DocumentHeader, KnowledgeBase, RelatedDoc, RouteFile, TopicEntry
from samuel.knowledge.routes import read_routes
from samuel.knowledge.survey import MOST, Survey, survey
from samuel.knowledge.topics import covers, listed
from samuel.nearest import SpellingHints

ROUTES = "routes"
"""Where route files usually lie; wherever else one lies, its neighbours are looked at as well."""


class _Naming(NamedTuple):
    """One place that names a document."""

    under: TopicEntry
    file: RouteFile
    related: RelatedDoc


def lint(base: KnowledgeBase) -> list[Problem]:
    """Every problem: ROUTING.md first, then the route files in its order, the documents, and what nobody names."""
    files = {index.route_file: read_routes(base.root, index.route_file) for index in base.indexes}
    named: dict[str, list[_Naming]] = {}
    for index in base.indexes:
        for route in files[index.route_file].routes:
            for related in route.related_docs:
                named.setdefault(related.path, []).append(_Naming(index, files[index.route_file], related))
    documents = {path: read_document(base.root, path) for path in sorted(named)}
    lying = survey(base.root)
    return [
        *base.problems,
        *_twice(base),
        *_missing_route_files(base, files),
        *(problem for file in files.values() if file.readable for problem in file.problems),
        *_disagreeing_route_files(base, files),
        *_missing_documents(base, named, documents, lying),
        *(problem for found in documents.values() if found.readable for problem in found.problems),
        *_disagreeing_documents(base, named, documents),
        *_orphan_route_files(base, files, lying),
        *_orphan_documents(base, documents, lying),
        *_unfinished(base, lying),
    ]


def _twice(base: KnowledgeBase) -> Iterator[Problem]:
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
    base: KnowledgeBase, named: dict[str, list[_Naming]], documents: dict[str, DocumentHeader], lying: Survey
) -> Iterator[Problem]:
    hints = SpellingHints()
    for path, namings in named.items():
        if (document := documents[path]).readable:
            continue
        hint = document.problems[0].hint or _nearest(base.root, path, namings[0].file.path, lying, hints)
        for place in dict.fromkeys((naming.file.path, naming.related.line) for naming in namings):
            what = f"the document `{path}` cannot be used: {document.problems[0].what}"
            yield Problem(what, str(base.root / place[0]), place[1], hint)


def _nearest(root: Path, path: str, route_file: str, lying: Survey, hints: SpellingHints) -> str:
    beside = f"{os.path.dirname(route_file)}/{path}".removeprefix("/")
    if (root / beside).is_file():
        return f"paths are from the directory of {FILE}: write `/{beside}`"
    known = (f"/{one}" for one in lying.files if is_markdown(one))
    return hints.did_you_mean(f"/{path}", known, "write it, or remove the entry")


def _disagreeing_documents(
    base: KnowledgeBase, named: dict[str, list[_Naming]], documents: dict[str, DocumentHeader]
) -> Iterator[Problem]:
    """A document may be of use to other topics too, so one of the routes that name it is enough to agree."""
    for path, document in documents.items():
        indexes = [naming.under for naming in named[path]]
        file = str(base.root / path)
        if document.scope and not any(covers(document.scope, index.scope) for index in indexes):
            what = (
                f"its scope is `{document.scope}`, and the routes to it are of {listed(i.scope for i in indexes)}"
            )
            yield Problem(what, file, document.lines.get("scope", 0), "make them the same")
        if document.topics and not any(index.topic in document.topics for index in indexes):
            what = f"its topics leave out that of the routes to it: {listed(i.topic for i in indexes)}"
            yield Problem(what, file, document.lines.get("topics", 0), "add it to `topics`")


def _orphan_route_files(base: KnowledgeBase, files: dict[str, RouteFile], lying: Survey) -> Iterator[Problem]:
    places = {ROUTES, *(os.path.dirname(path) for path in files)} - {""}
    for path in lying.files:
        if path.endswith((".yaml", ".yml")) and os.path.dirname(path) in places and path not in files:
            hint = f"add it to `route_indexes` in {FILE}, or remove it"
            yield Problem(f"no index of {FILE} names this route file", str(base.root / path), 0, hint)


def _orphan_documents(
    base: KnowledgeBase, documents: dict[str, DocumentHeader], lying: Survey
) -> Iterator[Problem]:
    for path in lying.files:
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


def _unfinished(base: KnowledgeBase, lying: Survey) -> Iterator[Problem]:
    if not lying.complete:
        what = f"more than {MOST} files lie below it, so some that nobody names may be missing here"
        yield Problem(what, str(base.root), 0, f"give the knowledge a directory with its own {FILE}")
