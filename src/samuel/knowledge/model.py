"""What a knowledge base consists of: indexes lead to route files, routes to documents.

Every path in it is relative to the routing root, the directory of ROUTING.md, and known to stay inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from samuel.errors import Problem
from samuel.events.event import Stage

FILE = "ROUTING.md"
STAGES: tuple[str, ...] = get_args(Stage)


class TopicEntry(NamedTuple):
    """One entry of ROUTING.md: what is known about one topic is in one route file."""

    scope: str
    topic: str
    summary: str
    route_file: str
    line: int


class RelatedDoc(NamedTuple):
    path: str
    stage: tuple[str, ...]
    """When it is of use; empty where the route does not say, and the document's own `stages` count."""
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
    """As the file itself says, where it does: the index that names it decides."""
    routes: tuple[Route, ...] = ()
    readable: bool = True
    """False where the file is missing, behind a link, or cannot be opened."""
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = {}
    """Where it says its scope and its topic."""


class DocumentHeader(NamedTuple):
    """What the front matter of a document says; all of it may be missing."""

    path: str
    id: str = ""
    doc_type: str = ""
    scope: str = ""
    topics: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    summary: str = ""
    readable: bool = True
    """As above."""
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = {}
    """The line of each key."""


class KnowledgeBase(NamedTuple):
    root: Path
    indexes: tuple[TopicEntry, ...]
    problems: tuple[Problem, ...] = ()
    """What ROUTING.md says and cannot be used: entries without what they need, and keys nobody knows."""
