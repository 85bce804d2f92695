"""Where the user's things are, and which homes are refused."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.base.errors import UsageError
from samuel.base.paths import User

HINT = "set `HOME` to the absolute path of a directory that exists"
COMMANDS = (
    ("emit", "SessionEnd"),
    ("hooks", "list"),
    ("hooks", "fire", "TurnEnd"),
    ("trust", "--yes"),
    ("plugin", "list"),
    ("doctor",),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "home"
    directory.mkdir()
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(directory))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return directory


def samuel(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", "samuel", *arguments], input="{}", capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.sampled(every=3)
def test_home_that_is_not_absolute_is_refused(
    command: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be looked up in the project, where a clone could bring agreements along."""
    Path("relative").mkdir()
    monkeypatch.setenv("HOME", "relative")
    code = 1 if command[0] == "emit" else 2  # an agent would take 2 for a denial
    assert samuel(*command) == (code, f"error: the home directory `relative` is not an absolute path\n{HINT}\n")
    assert list(Path("relative").iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.sampled(every=3)
def test_home_that_does_not_exist_is_refused_and_not_created(
    command: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home / "of" / "nobody"))
    code = 1 if command[0] == "emit" else 2  # an agent would take 2 for a denial
    assert samuel(*command) == (code, f"error: the home directory `{home}/of/nobody` does not exist\n{HINT}\n")
    assert list(home.iterdir()) == []


def test_library_refuses_a_wrong_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "relative")
    with pytest.raises(UsageError, match="not an absolute path"):
        User.from_environment()


def test_home_of_the_account_is_used_when_the_variable_is_empty(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "")
    account = User.from_environment().home
    monkeypatch.delenv("HOME")
    assert account == User.from_environment().home == Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_relative_xdg_directories_are_ignored(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("XDG_CACHE_HOME", "./cache")
    assert User.from_environment() == User(home, home / ".local/state/samuel", home / ".cache/samuel")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert User.from_environment().state == Path("/elsewhere/samuel")
