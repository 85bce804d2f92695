"""A knowledge base in a few lines, and the one that ships as an example."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.routing.knowledge.model import KnowledgeBase
from samuel.routing.knowledge.reading import read_base

EXAMPLE = Path(__file__).parents[3] / "examples" / "knowledge"

Write = Callable[[dict[str, str]], Path]


@pytest.fixture
def example() -> KnowledgeBase:
    return read_base(EXAMPLE)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files below a routing root and returns the root."""
    root = tmp_path / "base"

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).lstrip("\n"))
        return root

    return write
