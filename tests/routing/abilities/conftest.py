from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Files below a project's root, by path: `write(**{"ABILITY.md": "..."})`; gives the root."""
    root = tmp_path / "project"
    root.mkdir()

    def put(files: dict[str, str]) -> Path:
        for path, text in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text).lstrip("\n"))
            if path.endswith(".sh"):
                file.chmod(0o755)
        return root

    return put


@pytest.fixture
def labelled() -> Path:
    return Path(__file__).parent / "labelled"
