"""What the clean room adds to a check: showing it one tree after another, beside running the check in place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from pathlib import Path

from measure import Row, at_most, beside, take_turns

from samuel.evidence.check_directory import CheckDirectory
from samuel.evidence.room import CleanRoom
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.process import environment

AIM = 1.1
TESTS = 40  # modules, with one test that takes 20 ms each
TEST = """\
import time
import unittest


class T(unittest.TestCase):
    def test(self):
        time.sleep(0.02)
"""


def run(scratch: Path) -> Iterator[Row]:
    for count in (2_000, 20_000):
        root = scratch / f"project-{count}"
        _make(root, count)
        trees = Trees(Git(root, environment.clean()), scratch / f"state-{count}/trees")
        directory = CheckDirectory()
        room = CleanRoom(trees, scratch / f"state-{count}", directory)
        first = trees.snapshot()
        (root / "lib/module_1.py").write_text("VALUE = 2\n")
        second = trees.snapshot()
        turns = cycle((first, second))
        in_room, in_place = partial(_check_in_room, room, directory, turns), partial(_check, root)
        what = f"a check in the clean room over {count // 1000}k files, another tree each time, vs in place"
        yield at_most(what, *take_turns(in_room, in_place, rounds=9, warm_up=2), AIM)
        showing = take_turns(partial(_show, room, turns), partial(_status, root), rounds=9, warm_up=1)
        yield beside(f"showing another tree over {count // 1000}k files, vs git status", *showing)
    yield from _preparing(scratch, scratch / "project-2000")


def _preparing(scratch: Path, root: Path) -> Iterator[Row]:
    """What an environment of 10,000 files costs: once a run, and with each tree."""
    for number in range(10_000):
        file = root / f"node_modules/package_{number % 200}/file_{number}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"module.exports = {number}\n" * 20)
    trees = Trees(Git(root, environment.clean()), scratch / "state-environment/trees")
    room = CleanRoom(trees, scratch / "state-environment", CheckDirectory())
    tree, paths = trees.snapshot(), ["node_modules/"]
    prepare = partial(room.prepare, tree, paths)
    taken = take_turns(prepare, partial(_copy, root / "node_modules", scratch / "copy"), rounds=5, warm_up=1)
    yield beside("taking an environment of 10k files, once a run, vs cp -a", *taken)
    trees_in_turns = cycle((tree,))
    again = take_turns(partial(_show, room, trees_in_turns), partial(_status, root), rounds=9, warm_up=1)
    yield beside("showing a tree of 2k files beside an environment of 10k files, vs git status", *again)


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-a", source, target], check=True)


def _check_in_room(room: CleanRoom, directory: CheckDirectory, turns: cycle[str]) -> None:
    with room.showing(next(turns)):
        assert directory.path is not None
        _check(directory.path)


def _show(room: CleanRoom, turns: cycle[str]) -> None:
    with room.showing(next(turns)):
        pass


def _check(directory: Path) -> None:
    command = [sys.executable, "-B", "-m", "unittest", "discover", "-q", "-s", "tests"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)


def _status(root: Path) -> None:
    subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True)


def _make(root: Path, count: int) -> None:
    """A repository with this many source files and a suite that takes about a second."""
    for name in ("lib", "tests"):
        (root / name).mkdir(parents=True)
    (root / ".gitignore").write_text("node_modules/\n")
    for number in range(count):
        directory = root / "lib" / f"part_{number % 100}"
        directory.mkdir(exist_ok=True)
        (directory / f"module_{number}.py").write_text(f"VALUE = {number}\n" * 20)
    (root / "lib/module_1.py").write_text("VALUE = 1\n")
    for number in range(TESTS):
        (root / "tests" / f"test_{number}.py").write_text(TEST)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
