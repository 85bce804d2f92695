"""A project whose calls a real server answers, for one test or for all tests of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .served_project import ServedProject


@pytest.fixture
def served(
    tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]
) -> Iterator[ServedProject]:
    """No server runs yet."""
    project = ServedProject(tmp_path, fast_samuel, with_compiled_python)
    yield project
    project.close()
