"""Whether a change of a file has code in it."""

from __future__ import annotations


def has_code(path: str, old: str, new: str) -> bool:
    """False if only comments, blank lines or documentation changed."""
    return _code(path, old) != _code(path, new)


def is_document(path: str) -> bool:
    return path.endswith((".md", ".rst", ".txt"))


def _code(path: str, text: str) -> list[str]:
    if is_document(path):
        return []
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]
