"""The places that decide are looked at cheaply, and every change is noticed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.emit.serve.warm_project import DecidingPlaces
from samuel.files.survey import survey_place


def _write(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a = 1")


def _replace(file: Path) -> None:
    """Another file with the same name, content, mode and time."""
    status = file.stat()
    other = file.with_suffix(".new")
    other.write_bytes(file.read_bytes())
    other.chmod(stat.S_IMODE(status.st_mode))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(file)


def _link(directory: Path) -> None:
    directory.rename(directory.with_name("moved"))
    directory.symlink_to("moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file where there was no directory for it": lambda root: _write(root / "no/such/file"),
    "the directory alone": lambda root: (root / "no").mkdir(),
    "a dangling link in its place": lambda root: (root / "no").symlink_to("nowhere"),
    "a file in its place": lambda root: (root / "no").write_text(""),
    "a file in a directory": lambda root: _write(root / "hooks/other.py"),
    "another content of the same length": lambda root: (root / "hooks/guard.py").write_text("b = 1"),
    "the same content in another file": lambda root: _replace(root / "hooks/guard.py"),
    "another mode": lambda root: (root / "hooks/guard.py").chmod(0o755),
    "no file any more": lambda root: (root / "hooks/guard.py").unlink(),
    "a file that was missing beside another": lambda root: _write(root / "samuel.toml"),
    "a link in place of a directory": lambda root: _link(root / "plain"),
    "a directory that was not there": lambda root: (root / "absent").mkdir(),
    "a directory less": lambda root: (root / "plain").rmdir(),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    _write(tmp_path / "hooks/guard.py")
    (tmp_path / "plain").mkdir()
    return tmp_path


def _places(root: Path) -> DecidingPlaces:
    names = ("hooks", "no/such/file", "no/such/other", "samuel.toml", "hooks/guard.py")
    files = {str(root / name): survey_place(str(root / name)) for name in names}
    return DecidingPlaces(files, {f"{root}/plain": stat.S_IFDIR, f"{root}/absent": None})


def test_nothing_changed(root: Path) -> None:
    assert _places(root).are_as_before()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_change_is_noticed(root: Path, change: Callable[[Path], object]) -> None:
    places = _places(root)
    change(root)
    assert not places.are_as_before()
