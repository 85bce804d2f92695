"""A document: any file below the routing root. The front matter of a Markdown file helps to choose it."""

from __future__ import annotations

import os
from pathlib import Path

from samuel.base.errors import ConfigError
from samuel.files import frontmatter
from samuel.routing.knowledge.model import DocumentHeader
from samuel.routing.knowledge.values import FileProblems, Values, open_file, read_contents


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
    notes = FileProblems(file, lambda place: parsed.lines.get(str(place[0]), 1) if place else 1)
    values = Values(notes, parsed.head)
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
