"""What earlier attempts for a coordinator left on this machine: listed, and removed where that is asked for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from samuel.base.errors import Locked, SamuelError
from samuel.base.paths import User
from samuel.files.lock import held
from samuel.git import worktrees
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import PREFIX, KeptRefs, part
from samuel.git.trees import Trees
from samuel.process import environment
from samuel.process.live import is_live
from samuel.workspaces.fleet.clone import FleetClone
from samuel.workspaces.fleet.wire import InventoryLine, LeftLane, LeftRef, PruneRequest
from samuel.workspaces.lanes.lane import private_directory
from samuel.workspaces.lanes.listing import LANES, of_fleet

_FIELDS = "%(refname)%00%(objectname)%00%(tree)"


class MachinePrune:
    def __init__(self, user: User, clone: FleetClone, request: PruneRequest) -> None:
        self._user = user
        self._clone = clone
        self._request = request

    def answer(self, machine: str) -> InventoryLine:
        """Remove what the request names, then list what is left of its runs. What is under way is neither."""
        with self._clone.alone():
            removed = [*self._remove_lanes(), *self._remove_refs()]
            if removed:
                self._clone.remote.forget([f"{PREFIX}/{part(run)}/" for run in self._request.runs])
            return InventoryLine(machine, tuple(removed), tuple(self._refs()), tuple(self._lanes()))

    def _refs(self) -> Iterator[LeftRef]:
        for run in self._request.runs:
            if is_live(self._user.live, run):
                continue
            prefix = f"{PREFIX}/{part(run)}/"
            output = self._clone.git.run("for-each-ref", f"--format={_FIELDS}", prefix)
            for line in output.decode(errors="replace").splitlines():
                yield LeftRef(*line.split("\0"))

    def _remove_refs(self) -> list[str]:
        removed = []
        for ref, commit in self._request.refs.items():
            run = unquote(ref.removeprefix(f"{PREFIX}/").partition("/")[0], errors="surrogateescape")
            if run not in self._request.runs or is_live(self._user.live, run):
                continue
            with suppress(GitFailed):  # it has another commit by now
                KeptRefs(self._clone.git).transaction([f"delete {ref} {commit}"], "samuel fleet prune")
                removed.append(ref)
        return removed

    def _lane_paths(self) -> Iterator[Path]:
        """The lanes of this clone that attempts for coordinators made."""
        above = (self._user.state / LANES).resolve()
        for entry in worktrees.entries(self._clone.git):
            if entry.path.parent.parent == above and of_fleet(entry.path.parent) and entry.path.is_dir():
                yield entry.path

    def _lanes(self) -> Iterator[LeftLane]:
        for path in self._lane_paths():
            with suppress(Locked, SamuelError), held(_lock_of(path), note="samuel fleet prune"):
                yield LeftLane(str(path), _tree(path))

    def _remove_lanes(self) -> list[str]:
        removed = []
        for path in self._lane_paths():
            tree = self._request.lanes.get(str(path))
            if tree is None:
                continue
            with suppress(Locked, SamuelError), held(_lock_of(path), note="samuel fleet prune"):
                if _tree(path) != tree:
                    continue
                worktrees.remove(self._clone.git, path)
                shutil.rmtree(private_directory(path), ignore_errors=True)
                removed.append(str(path))
        return removed


def _lock_of(path: Path) -> Path:
    """What an attempt holds while it works in a lane."""
    return path.with_name(f"{path.name}.lock")


def _tree(path: Path) -> str:
    """The files of a lane as they are now, without those that git ignores."""
    return Trees(Git(path, environment.clean()), private_directory(path) / "trees").snapshot()
