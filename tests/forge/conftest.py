"""The real `gh`, logged in to a small GitHub of the test's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.forge.github_server import HOST, REPOSITORY, GitHubServer, serving, write_login


@pytest.fixture
def gh_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory with the settings of `gh`; no login of the machine is used."""
    for name in (
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "GH_ENTERPRISE_TOKEN",
        "GITHUB_ENTERPRISE_TOKEN",
        "GH_HOST",
        "GH_REPO",
    ):
        monkeypatch.delenv(name, raising=False)
    directory = tmp_path / "gh"
    monkeypatch.setenv("GH_CONFIG_DIR", str(directory))
    return directory


@pytest.fixture
def github(gh_settings: Path) -> Iterator[GitHubServer]:
    """A GitHub that `gh` is logged in to. In the end no request may have been one that GitHub does not know."""
    if shutil.which("gh") is None:
        pytest.skip("NOT TESTED: gh is not installed")
    with tempfile.TemporaryDirectory(prefix="gh") as directory:  # a path of a socket must be short
        socket = Path(directory) / "socket"
        write_login(gh_settings, socket)
        with serving(socket) as server:
            yield server
    assert server.violations == []


@pytest.fixture
def clone(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository whose remote is the one on the GitHub of the test."""
    root = tmp_path / "clone"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "remote", "add", "origin", f"http://{HOST}/{REPOSITORY}.git")
    return root
