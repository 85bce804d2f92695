"""A route file: in which situation which documents help.

It is two YAML documents, what the file is about and then `routes`, or one document with both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from samuel.base.errors import ConfigError
from samuel.files import yaml
from samuel.routing.knowledge.model import RelatedDoc, Route, RouteFile
from samuel.routing.knowledge.routing_paths import read_contents
from samuel.routing.knowledge.values import FileProblems, Values

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
