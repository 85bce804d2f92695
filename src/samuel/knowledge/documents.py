"""A document: any file below the routing root. The front matter of a Markdown file helps to choose it."""

from __future__ import annotations

import os
from pathlib import Path

from samuel.errors import ConfigError
from samuel.files import frontmatter
from samuel.knowledge.model import DocumentHeader
from samuel.knowledge.place import contents, opened
from samuel.knowledge.values import Notes, Values


def is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


def read_document(root: Path, path: str) -> DocumentHeader:
    """What is known of it. One whose front matter is wrong can be read all the same."""
    file = str(root / path)
    try:
        data = contents(root, path, frontmatter.LARGEST) if is_markdown(path) else _look(root, path)
    except ConfigError as error:
        return DocumentHeader(path, readable=False, problems=error.problems)
    try:
        found = frontmatter.parse(data, file)
    except ConfigError as error:
        return DocumentHeader(path, problems=error.problems)
    notes = Notes(file, lambda place: found.lines.get(str(place[0]), 1) if place else 1)
    said = Values(notes, found.head)
    document = DocumentHeader(
        path,
        id=said.text("id"),
        doc_type=said.text("doc_type"),
        scope=said.text("scope"),
        topics=said.texts("topics"),
        stages=said.stages("stages"),
        summary=said.text("summary"),
        lines=found.lines,
    )
    said.refuse_misspelt()  # other keys are for other tools
    return document._replace(problems=notes.problems())


def _look(root: Path, path: str) -> bytes:
    """Whether a file that is no Markdown can be opened: it may be anything, so nothing of it is read."""
    os.close(opened(root, path))
    return b""
