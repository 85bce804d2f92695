"""Keeps installed plugins out of git: samuel.lock names them, and `samuel plugin install` fetches them again."""

from __future__ import annotations

import os
from pathlib import Path

from samuel.base import paths
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside

LINE = "plugins/"
MAX_BYTES = 1 << 20
_EQUIVALENT = (LINE, "plugins", "/plugins", "/plugins/", "*")


def ignore_plugins(root: Path) -> None:
    """Add `plugins/` to the project's `.samuel/.gitignore`, unless a line there covers it."""
    directory = make_dirs_inside(root, paths.HOME, mode=0o755)
    try:
        try:
            text = read_inside(root, paths.HOME, ".gitignore", limit=MAX_BYTES).decode(errors="surrogateescape")
        except FileNotFoundError:
            text = ""
        if not any(line.strip() in _EQUIVALENT for line in text.split("\n")):
            gap = "\n" if text and not text.endswith("\n") else ""
            atomic.write_at(directory, ".gitignore", f"{text}{gap}{LINE}\n".encode(errors="surrogateescape"))
    finally:
        os.close(directory)
