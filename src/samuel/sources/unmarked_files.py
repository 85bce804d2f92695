"""Python files beside hooks that are neither a hook nor used by one: the decorator was probably forgotten."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from samuel.base import paths
from samuel.sources.hook_files import helper_texts

HINT = "begin its name with `_` if other hooks use it"


def unmarked_files(root: Path, home: Path) -> list[str]:
    """What to say about each of these files in the hook directories of a project and its user."""
    places = [(root / place, place) for place in paths.HOOK_DIRS]
    places += [(home / place, f"~/{place}") for place in paths.HOOK_DIRS]
    return [
        f"`{place_name}/{name}` is not a hook: it has no function marked with `@samuel.hook` ({HINT})"
        for directory, place_name in places
        for name in _unmarked(str(directory))
    ]


def _unmarked(directory: str) -> Iterator[str]:
    helpers, texts = helper_texts(directory)
    for name in helpers:
        stem = os.fsencode(name.removesuffix(".py"))
        used = re.compile(
            rb"(?:import|from)\b[^\n]*\b" + re.escape(stem) + rb"\b|\b" + re.escape(stem) + rb"\.py\b"
        )
        if not name.startswith("_") and not any(used.search(text) for file, text in texts.items() if file != name):
            yield name
