"""Making what checks need in the clean room: a real command, and trees with different inputs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.evidence.check_directory import CheckDirectory
from samuel.evidence.environment import PrepareFailed
from samuel.evidence.room import CleanRoom
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.process import environment

GitCommand = Callable[..., str]


class Command:
    """Runs a shell command, and counts."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.runs = 0

    def run(self, directory: Path) -> None:
        self.runs += 1
        finished = subprocess.run(["/bin/sh", "-c", self.command], cwd=directory, capture_output=True, text=True)
        if finished.returncode:
            raise PrepareFailed(f"`{self.command}` failed: {finished.stderr.strip()}")


MAKE = """\
cp lock.json package-lock.json
mkdir -p node_modules target && cp package.json node_modules/made && touch target/built
"""


@pytest.fixture
def root(tmp_path: Path, git: GitCommand) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "package.json").write_text("1")
    (root / "lock.json").write_text("rewritten")
    (root / "package-lock.json").write_text("as committed")
    (root / ".gitignore").write_text("node_modules/\ntarget/\n.env\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "node_modules").mkdir()
    (root / "node_modules/of-the-person").touch()
    (root / ".env").write_text("KEY=1\n")
    return root


@pytest.fixture
def trees(root: Path, tmp_path: Path) -> Trees:
    return Trees(Git(root, environment.clean()), tmp_path / "state/trees")


def files_of(room: CleanRoom, tree: str) -> dict[str, str]:
    with room.showing(tree):
        paths = [path for path in room.root.rglob("*") if path.is_file()]
        names = [(str(path.relative_to(room.root)), path) for path in paths]
        return {name: path.read_text() for name, path in names if not name.startswith(".git/")}


def test_command_makes_the_environment_once_for_each_state_of_its_inputs(
    root: Path, trees: Trees, tmp_path: Path
) -> None:
    command = Command(MAKE)
    room = CleanRoom(trees, tmp_path / "state", CheckDirectory(), command)
    first = trees.snapshot()
    taken = room.prepare(first, trees.ignored())
    assert command.runs == 1
    assert "made by" in taken.how
    files = files_of(room, first)
    assert files["node_modules/made"] == "1"
    assert "node_modules/of-the-person" not in files
    assert files[".env"] == "KEY=1\n"
    assert "target/built" in files  # made from the verified tree
    assert files["package-lock.json"] == "as committed"  # what it did to tracked files is undone
    (root / "source.py").write_text("x = 1\n")
    files_of(room, trees.snapshot())
    assert command.runs == 1
    (root / "package.json").write_text("2")
    changed = trees.snapshot()
    files = files_of(room, changed)
    assert (command.runs, files["node_modules/made"]) == (2, "2")
    assert "target/built" not in files  # an attempt's own build output is not reused
    assert files_of(room, first)["node_modules/made"] == "1"
    assert files_of(room, changed)["node_modules/made"] == "2"
    assert command.runs == 2
    # Another process, which goes on with the run or begins the next one.
    again = CleanRoom(trees, tmp_path / "state", CheckDirectory(), command)
    assert files_of(again, first)["node_modules/made"] == "1"
    assert command.runs == 2


def test_file_that_the_command_names_is_an_input(root: Path, trees: Trees, tmp_path: Path) -> None:
    (root / "setup.sh").write_text("mkdir -p node_modules; echo 1 > node_modules/made\n")
    command = Command("sh ./setup.sh")
    room = CleanRoom(trees, tmp_path / "state", CheckDirectory(), command)
    room.prepare(trees.snapshot(), ())
    (root / "setup.sh").write_text("mkdir -p node_modules; echo 2 > node_modules/made\n")
    assert files_of(room, trees.snapshot())["node_modules/made"] == "2\n"


def test_failure_after_the_inputs_changed_names_them(root: Path, trees: Trees, tmp_path: Path) -> None:
    command = Command("grep -q 1 package.json || { echo no such version >&2; exit 1; }")
    room = CleanRoom(trees, tmp_path / "state", CheckDirectory(), command)
    first = trees.snapshot()
    room.prepare(first, ())
    (root / "package.json").write_text("2")
    with pytest.raises(PrepareFailed, match=r"the attempt changed `package.json`, and then .* no such version"):
        files_of(room, trees.snapshot())
    assert files_of(room, first)["package.json"] == "1"


def test_failure_before_the_first_agent_is_the_commands_own(root: Path, trees: Trees, tmp_path: Path) -> None:
    room = CleanRoom(trees, tmp_path / "state", CheckDirectory(), Command("echo offline >&2; exit 3"))
    with pytest.raises(PrepareFailed) as raised:
        room.prepare(trees.snapshot(), ())
    assert raised.value.message == "`echo offline >&2; exit 3` failed: offline"


def test_what_the_command_made_cannot_be_changed_by_a_check(root: Path, trees: Trees, tmp_path: Path) -> None:
    room = CleanRoom(trees, tmp_path / "state", CheckDirectory(), Command(MAKE))
    tree = trees.snapshot()
    room.prepare(tree, ())
    with room.showing(tree):
        (room.root / "node_modules/made").write_text("forged")
        (room.root / "node_modules/more").write_text("forged")
    files = files_of(room, tree)
    assert files["node_modules/made"] == "1"
    assert "node_modules/more" not in files
