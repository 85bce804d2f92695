"""A user and a project of their own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.base.paths import User
from samuel.bridges.files import BridgeContext


@pytest.fixture
def context(tmp_path: Path) -> BridgeContext:
    root, home, system = tmp_path / "project", tmp_path / "home", tmp_path / "system"
    for directory in (root, home, system):
        directory.mkdir()
    return BridgeContext(root, User(home, home / "state", home / "cache"), {"PATH": "/usr/bin:/bin"}, system)
