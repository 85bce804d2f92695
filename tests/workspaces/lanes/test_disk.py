"""What a long run with lanes leaves on disk: as many work trees as lanes, however many tasks there were."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.length import at_length
from tests.workspaces.lanes.project import LaneProject

LANES = at_length(3, 8)
FIRST, ALL = at_length((6, 18), (20, 200))
FILE = 1 << 20
PATIENCE = 1800.0  # seconds, for 200 tasks
# Bytes beside objects and the tree itself: two refs; of each lane a line in its reflog, entries in its indexes,
# and what its copies of the task list and of progress.md grow by.
MOST_PER_TASK = 4 * 1024  # bytes: its commit and record, and the trees of its corners until git collects them


class DiskUse(NamedTuple):
    """Bytes of files, not of blocks: a file system decides about these."""

    lanes: int
    objects: int
    rest_of_git: int
    tree: int
    """Of the files in a commit of the branch."""

    @property
    def beside(self) -> int:
        """What is neither an object nor a file of one of the work trees."""
        return self.lanes + self.rest_of_git - (LANES + 1) * self.tree


def size(directory: Path, counts: Callable[[Path], bool] = lambda path: True) -> int:
    files = (Path(parent, name) for parent, _, names in os.walk(directory) for name in names)
    return sum(file.lstat().st_size for file in files if counts(file))


def disk_use(project: LaneProject) -> DiskUse:
    git = project.root / ".git"
    objects = size(git / "objects")
    rows = project.git("ls-tree", "-r", "-l", "main").splitlines()
    tree = sum(int(row.split()[3]) for row in rows)
    return DiskUse(size(project.lane_directory()), objects, size(git) - objects, tree)


def run_to_end(project: LaneProject, *arguments: str) -> None:
    with project.running(*arguments, lanes=LANES) as run:
        run.wait(PATIENCE)


@pytest.mark.slow
def test_disk_use_of_a_run_grows_with_its_lanes_and_not_with_its_tasks(lanes: LaneProject) -> None:
    lanes.prepare(ALL, files={"large.bin": "x" * FILE, ".gitignore": ".samuel/run/\n.system/logs/\n"})
    run_to_end(lanes, "--iterations", str(FIRST))
    assert list(lanes.statuses().values()).count("completed") == FIRST
    early = disk_use(lanes)
    assert early.lanes < 2 * (LANES + 2) * early.tree
    run_to_end(lanes)

    lanes.assert_sound(ALL)
    late = disk_use(lanes)
    print(
        f"\nafter {FIRST} tasks: {early}, beside {early.beside}\nafter {ALL} tasks: {late}, beside {late.beside}"
    )
    assert late.beside - early.beside < MOST_PER_TASK * (ALL - FIRST)
    assert len(lanes.git("worktree", "list").splitlines()) == LANES + 2, "the user's own, the lanes, and landing"
