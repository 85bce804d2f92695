"""All files below a routing root, to find those that no route names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.routing.knowledge.model import FILE

MOST = 20_000  # entries of directories
DEEPEST = 12
IGNORED = frozenset({"node_modules", "__pycache__"})
"""Directories of generated or third-party files. Hidden ones are skipped as well."""


class Survey(NamedTuple):
    files: tuple[str, ...]
    """Paths from the root, by name, without symbolic links."""
    complete: bool


def survey(root: Path) -> Survey:
    """The files below `root`, but not below another ROUTING.md: that is a knowledge base of its own."""
    files: list[str] = []
    for path in _files(root, "", 0):
        if len(files) == MOST:
            return Survey(tuple(files), complete=False)
        files.append(path)
    return Survey(tuple(files), complete=True)


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
