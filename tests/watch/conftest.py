"""Projects with a run, and a terminal to watch it on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.watch.terminal import Terminal
from tests.workspaces.lanes.project import LaneProject


@pytest.fixture
def lane_project(tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]) -> LaneProject:
    home = tmp_path / "home"
    home.mkdir()
    with_compiled_python(home / "cache")
    return LaneProject(tmp_path, fast_samuel, home)


@pytest.fixture
def terminal(tmp_path: Path, lane_project: LaneProject) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    terminal = Terminal(tmp_path, lane_project.env, lane_project.root)
    yield terminal
    terminal.close()
