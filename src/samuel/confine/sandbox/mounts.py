"""Which parts of a project a confined program may write: all of it, but for what would run outside later.

A hook that git runs, a setting that names a program, Samuel's own hooks and config: what is written there acts
with the user's rights the next time the user works there, and no sandbox helps any more. What is there before is
mounted read-only; what a program leaves behind is looked through when it has ended.

A mounted path cannot be renamed or removed, but its parent can: `mv .git x` would take the read-only hooks along
and leave room for others. So each directory on the way to a protected one is mounted too, onto itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from samuel.base.paths import Project
from samuel.confine.sandbox.request import Workspace
from samuel.git.config_files import GitFiles, Placeholders, git_files, hold_placeholders, leads_to, own_directories
from samuel.git.search import GitSearch, search
from samuel.git.sweep import Baseline, GitState, Quarantine, Sweep, look
from samuel.process.reason import NotRunnable


class Mount(NamedTuple):
    path: str
    writable: bool


@contextmanager
def hold(place: Workspace) -> Iterator[list[Mount]]:
    """The mounts for a project, parents first. They mean something while this context lasts.

    When it ends, what the program left for git is put right and reported: end the program first.
    """
    root, state = Path(os.path.realpath(place.root)), Path(os.path.realpath(place.state))
    project = Project(root)
    for directory in (project.run, state):
        directory.mkdir(parents=True, exist_ok=True)
    own = [str(directory) for directory in own_directories(root)]
    places = [str(root), *(path for path in own if not path.startswith(f"{root}/"))]
    hidden = [str(project.quarantine)]
    search_result = search(places, own, hidden)
    files = git_files(root, place.host, _linked_trees(search_result, own))
    quarantine = Quarantine(root, project.quarantine)

    def sweep(before: GitState) -> None:
        for line in Sweep(root, files, before, quarantine).run(search(places, own, hidden)):
            place.report(line)

    with ExitStack() as holders:
        in_project = Placeholders(root, [os.path.relpath(project.quarantine, root)])
        holder, *_ = [
            holders.enter_context(hold_placeholders(placeholders))
            for placeholders in _merged_by_directory(in_project, files)
        ]
        mounts = _mounts(root, state, files)
        baseline = Baseline(place.cache, root)
        if holder.first and (left := baseline.load()):  # by a Samuel that was killed before it could look
            sweep(left)
            search_result = search(places, own, hidden)
        before = look(search_result, files)
        if holder.first:
            baseline.save(before)
        try:
            yield mounts
        finally:
            sweep(before)
            if holder.becomes_last():
                baseline.remove()


def _linked_trees(search_result: GitSearch, own: Sequence[str]) -> list[str]:
    """Other work trees of the same repository, below the project."""
    shared = {os.path.join(directory, "worktrees") for directory in own}
    trees = (
        git for git, content in search_result.files.items() if os.path.dirname(leads_to(git, content)) in shared
    )
    return [os.path.dirname(git) for git in trees]


def _merged_by_directory(in_project: Placeholders, files: GitFiles) -> list[Placeholders]:
    """The placeholders of each directory as one, the project first, so that each directory is locked once."""
    merged: dict[Path, Placeholders] = {}
    for placeholders in (in_project, *files.placeholders):
        place, directories, contents = merged.get(placeholders.place, Placeholders(placeholders.place))
        names = dict.fromkeys((*directories, *placeholders.directories))
        merged[place] = Placeholders(place, tuple(names), {**contents, **placeholders.files})
    return list(merged.values())


def _mounts(root: Path, state: Path, files: GitFiles) -> list[Mount]:
    """What is mounted and whether it is writable, parents first."""
    project = Project(root)
    modes = {str(root): True}
    modes |= dict.fromkeys(files.writable, True)
    modes |= dict.fromkeys(_existing(project.config, root / ".kodelet", project.home), False)
    modes |= {str(path): True for path in (project.run, state) if path.is_dir()}
    modes |= dict.fromkeys(_existing(project.quarantine, state / "bin", state / "shim", state / "bridge"), False)
    if (root / ".system").is_dir():
        modes |= {str(root / ".system"): True}
        modes |= dict.fromkeys(_existing(root / ".system" / "hooks"), False)
    for path in sorted(files.read_only, key=_parts):
        if os.path.lexists(path) and _is_writable(path, modes):
            modes |= dict.fromkeys(_on_the_way(path, modes), True)
            modes[path] = False
    mounts = [Mount(path, modes[path]) for path in sorted(modes, key=_parts)]
    _refuse_links(mounts)
    return mounts


def _parts(path: str) -> list[str]:
    return path.split("/")


def _existing(*paths: Path) -> list[str]:
    return [str(path) for path in paths if os.path.lexists(path)]


def _is_writable(path: str, modes: Mapping[str, bool]) -> bool:
    """Whether the nearest of these mounts around the path is writable."""
    around = next((str(place) for place in (Path(path), *Path(path).parents) if str(place) in modes), "")
    return modes.get(around, False)


def _on_the_way(path: str, modes: Mapping[str, bool]) -> Iterator[str]:
    """The directories between a path and the nearest mount around it."""
    for place in Path(path).parents:
        if str(place) in modes:
            return
        yield str(place)


def _refuse_links(mounts: Iterable[Mount]) -> None:
    for path, _ in mounts:
        if os.path.islink(path):
            raise NotRunnable(
                f"`{path}` is a symbolic link, and a sandbox cannot keep a link from being replaced",
                "replace it with the real file or directory",
            )
