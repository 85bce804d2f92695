"""What lies below a routing root, whether a route names it or not: for finding what nobody names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.knowledge.model import FILE

MOST = 20_000  # entries of directories
DEEPEST = 12
IGNORED = frozenset({"node_modules", "__pycache__"})
"""Directories of other people's files. Hidden ones are passed over as well."""


class Survey(NamedTuple):
    files: tuple[str, ...]
    """Paths from the root, by name. Links are none."""
    complete: bool


def survey(root: Path) -> Survey:
    """The files below `root`, but not below another ROUTING.md: that is a knowledge base of its own."""
    found: list[str] = []
    for path in _files(root, "", 0):
        if len(found) == MOST:
            return Survey(tuple(found), complete=False)
        found.append(path)
    return Survey(tuple(found), complete=True)


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
