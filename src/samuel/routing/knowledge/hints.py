"""Documents that hooks suggest: those that exist, and a message about the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.printable import safe, shorten
from samuel.events.session import SuggestedDocument
from samuel.routing.knowledge.documents import read_document
from samuel.routing.knowledge.model import DocumentHeader
from samuel.routing.knowledge.routing_paths import from_root

MOST = 50


class Hint(NamedTuple):
    path: str
    reason: str
    stage: tuple[str, ...]


def check_suggestions(root: Path, suggestions: Sequence[SuggestedDocument]) -> tuple[list[Hint], list[str]]:
    """The documents that can be read, each once, and the problems of the other suggestions."""
    hints: dict[str, Hint] = {}
    problems = []
    for suggestion in suggestions[:MOST]:
        try:
            document = _document(root, suggestion.path)
        except ValueError as error:
            problems.append(f"a hook suggests a document whose path {error}")
            continue
        if document.readable:
            why = (
                f"a hook suggests it: {_line(suggestion.reason)}"
                if suggestion.reason.strip()
                else "a hook suggests it"
            )
            stage = (suggestion.stage,) if suggestion.stage else document.stages
            hints.setdefault(document.path, Hint(document.path, why, stage))
        else:
            problems.append(f"a hook suggests `{shorten(suggestion.path)}`: {document.problems[0].what}")
    if len(suggestions) > MOST:
        problems.append(f"hooks suggest {len(suggestions)} documents; only the first {MOST} are used")
    return list(hints.values()), problems


def _document(root: Path, path: str) -> DocumentHeader:
    """The document at a path that a hook gave. It may begin with the routing root, absolute or by its name."""
    document = read_document(root, from_root(path))
    for prefix in (f"{root.absolute()}/", f"{root.absolute().name}/"):
        if not document.readable and path.startswith(prefix):
            return read_document(root, from_root(path.removeprefix(prefix)))
    return document


def _line(reason: str) -> str:
    return safe(" ".join(reason[:300].split()), keep="")
