"""The lanes of a project that are on disk: what is in each, and removing them without losing any of it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.base.paths import User, record_name
from samuel.git import worktrees
from samuel.git.git import Git
from samuel.git.kept_refs import PREFIX
from samuel.git.trees import Trees
from samuel.history.run import AttemptUnderWay
from samuel.workspaces.lanes.lane import LANDING_NAME, private_directory

PRUNED = f"{PREFIX}/pruned"
LANES = "lanes"  # in the user's state
_OF_FLEET = "-fleet"


class ListedLane(NamedTuple):
    name: str
    path: Path
    commit: str
    """What is checked out."""
    task: str
    """The task under way in it; "" if there is none."""


def lanes_directory(user: User, root: Path, state: Path) -> Path:
    """Where the lanes of a project are: outside of it, so that no tool in a lane finds the project around it."""
    return user.state / LANES / f"{root.name}-{record_name(state)[:12]}"


def fleet_directory(lanes: Path) -> Path:
    """Where the lanes are in which a machine works for coordinators; `lanes` has those of its own runs."""
    return lanes.with_name(f"{lanes.name}{_OF_FLEET}")


def of_fleet(directory: Path) -> bool:
    """Whether a directory has lanes in which a machine works for coordinators."""
    return directory.name.endswith(_OF_FLEET)


def listed_lanes(git: Git, directory: Path, active: Mapping[str, AttemptUnderWay]) -> list[ListedLane]:
    """The lanes that git knows below this directory, by name."""
    tasks = {str(record.lane): record.task for record in active.values() if record.result is None}
    lanes = [
        ListedLane(entry.path.name, entry.path, entry.head, tasks.get(entry.path.name, ""))
        for entry in worktrees.entries(git)
        if entry.path.parent == directory.resolve()
    ]
    return sorted(lanes, key=lambda lane: (lane.name == LANDING_NAME, len(lane.name), lane.name))


def remove_lane(git: Git, lane: ListedLane, environment: Mapping[str, str], now: float) -> str:
    """Remove a lane; gives the ref that has what was in it, or "" if another ref had all of it already.

    Ignored files, such as installed packages, are removed for good.
    """
    inside = Git(lane.path, environment)
    private = private_directory(lane.path)
    trees = Trees(inside, private / "trees")
    tree, ref = trees.snapshot(), ""
    in_refs = git.run("for-each-ref", "--format=%(tree)", PREFIX, "refs/heads").decode().split()
    if tree not in in_refs:
        ref = f"{PRUNED}/{lane.name}/{int(now)}"
        trees.refs.keep(ref, tree, lane.commit, f"samuel: what was in lane {lane.name}\n")
    worktrees.remove(git, lane.path)
    shutil.rmtree(private, ignore_errors=True)
    return ref
