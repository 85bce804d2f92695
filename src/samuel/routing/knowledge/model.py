"""The records of a knowledge base: topic entries lead to route files, routes to documents.

Every path in it is relative to the routing root, the directory of ROUTING.md, and known to stay inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from samuel.base.errors import Problem
from samuel.events.event import Stage

FILE = "ROUTING.md"
STAGES: tuple[str, ...] = get_args(Stage)


class TopicEntry(NamedTuple):
    """One entry of ROUTING.md: a topic and its route file."""

    scope: str
    topic: str
    summary: str
    route_file: str
    line: int


class RelatedDoc(NamedTuple):
    path: str
    stage: tuple[str, ...]
    """The stages it is for; if empty, the document's own `stages` count."""
    doc_usage: str
    line: int


class Route(NamedTuple):
    when_to_use: str
    related_docs: tuple[RelatedDoc, ...]
    line: int


class RouteFile(NamedTuple):
    path: str
    scope: str = ""
    topic: str = ""
    """As in the file itself, which may leave it out: the entry in ROUTING.md decides."""
    routes: tuple[Route, ...] = ()
    readable: bool = True
    """False where the file is missing, behind a link, or cannot be opened."""
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = {}
    """The lines of `scope` and `topic`."""


class DocumentHeader(NamedTuple):
    """The front matter of a document; every field may be missing."""

    path: str
    id: str = ""
    doc_type: str = ""
    scope: str = ""
    topics: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    summary: str = ""
    readable: bool = True
    """False where the file is missing, behind a link, or cannot be opened."""
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = {}
    """The line of each key."""


class KnowledgeBase(NamedTuple):
    root: Path
    indexes: tuple[TopicEntry, ...]
    problems: tuple[Problem, ...] = ()
    """Problems of ROUTING.md: entries that lack a field, and unknown keys."""
