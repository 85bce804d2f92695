"""Documents that hooks suggest: those that are there, and a word about those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.events.session import SuggestedDocument
from samuel.knowledge.documents import read_document
from samuel.knowledge.model import DocumentHeader
from samuel.knowledge.place import from_root
from samuel.printable import safe, shorten

MOST = 50


class Hint(NamedTuple):
    path: str
    reason: str
    stage: tuple[str, ...]


def examined(root: Path, said: Sequence[SuggestedDocument]) -> tuple[list[Hint], list[str]]:
    """The documents, each once, and what is wrong with the other suggestions."""
    hints: dict[str, Hint] = {}
    refused = []
    for one in said[:MOST]:
        try:
            document = _document(root, one.path)
        except ValueError as error:
            refused.append(f"a hook suggests a document whose path {error}")
            continue
        if document.readable:
            why = f"a hook suggests it: {_line(one.reason)}" if one.reason.strip() else "a hook suggests it"
            stage = (one.stage,) if one.stage else document.stages
            hints.setdefault(document.path, Hint(document.path, why, stage))
        else:
            refused.append(f"a hook suggests `{shorten(one.path)}`: {document.problems[0].what}")
    if len(said) > MOST:
        refused.append(f"hooks suggest {len(said)} documents, and only the first {MOST} are looked at")
    return list(hints.values()), refused


def _document(root: Path, written: str) -> DocumentHeader:
    """A hook knows the project, and maybe not where its knowledge is: its path may lead through the root."""
    document = read_document(root, from_root(written))
    for above in (f"{root.absolute()}/", f"{root.absolute().name}/"):
        if not document.readable and written.startswith(above):
            return read_document(root, from_root(written.removeprefix(above)))
    return document


def _line(reason: str) -> str:
    return safe(" ".join(reason[:300].split()), keep="")
