"""A home of its own, and a git configuration in it that finds github.com on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base import paths
from samuel.files.lock import held
from samuel.plugins import environment


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    for name in ("SAMUEL_TRUST", "SAMUEL_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    (home / ".gitconfig").write_text(f'[url "file://{tmp_path}/origins/"]\n\tinsteadOf = https://github.com/\n')
    return home


@pytest.fixture
def user(home: Path) -> paths.User:
    return paths.User.from_environment()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project."""
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture(scope="session")
def with_pip(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[Path], Path]:
    """A place for environments that has its pip already: setting one up takes seconds."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "pip"  # of all workers: the first sets it up
    with held(shared.with_suffix(".lock"), wait=None):
        if not shared.exists():
            shared.mkdir()
            environment.set_up_pip(shared)

    def make(place: Path) -> Path:
        place.mkdir(parents=True)
        for entry in shared.iterdir():
            if entry.is_dir():
                (place / entry.name).symlink_to(entry)
        return place

    return make
