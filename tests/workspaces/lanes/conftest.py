"""Projects for the tests of lanes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspaces.lanes.project import LaneProject


@pytest.fixture
def lanes(tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]) -> LaneProject:
    home = tmp_path / "home"
    home.mkdir()
    with_compiled_python(home / "cache")
    return LaneProject(tmp_path, fast_samuel, home)
