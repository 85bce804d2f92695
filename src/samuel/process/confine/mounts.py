"""Which parts of a project a confined program may write: all of it, but for what would run outside later.

A hook that git runs, a setting that names a program, Samuel's own hooks and config: whoever writes these acts
with the user's rights the next time the user works there, and no sandbox helps any more.

A mounted path cannot be renamed or removed, but its parent can: `mv .git x` would take the read-only hooks along
and leave room for others. So each directory on the way to a protected one is mounted too, onto itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from samuel.paths import Project
from samuel.process.reason import NotRunnable

_ITSELF = ".\n"


class Mount(NamedTuple):
    path: str
    writable: bool


@contextmanager
def hold(root: Path, state: Path) -> Iterator[list[Mount]]:
    """The mounts for a project, parents first. They mean something while this context lasts."""
    root, state = Path(os.path.realpath(root)), Path(os.path.realpath(state))
    project = Project(root)
    state.mkdir(parents=True, exist_ok=True)
    common = common_directory(root / ".git")
    with _no_other_common(common):
        mounts = [
            Mount(str(root), True),
            *_git(root / ".git", common),
            *_if_there(project.config, root / ".kodelet", project.home),
            *(Mount(str(path), True) for path in (project.run, state) if path.is_dir()),
            *_if_there(state / "bin", state / "shim"),
        ]
        if (root / ".system").is_dir():
            mounts += [Mount(str(root / ".system"), True), *_if_there(root / ".system" / "hooks")]
        _refuse_links(mounts)
        yield mounts


def _git(git: Path, common: Path | None) -> list[Mount]:
    if common is None:
        return _if_there(git)  # not a repository, or one whose directory we do not know: then nobody writes it
    for name in ("hooks", "info"):  # git takes an empty one for none
        (common / name).mkdir(exist_ok=True)
    (common / "config").touch()
    mounts = [Mount(str(common), True)]
    if git.is_file():
        own = _linked(git)
        mounts += [Mount(str(path), True) for path in (own.parent, own)]
        mounts += _if_there(git, own / "gitdir", own / "commondir", own / "config.worktree")
    names = ("config", "config.worktree", "commondir", "hooks", "info", "modules")
    return mounts + _if_there(*(common / name for name in names))


def common_directory(git: Path) -> Path | None:
    """The directory with the repository's config and hooks: `.git`, or for a worktree that of its main tree."""
    if not git.is_file():
        return git if git.is_dir() else None
    own = _linked(git)
    try:
        # `.git` is a file that an agent can write. Only a directory that points back is opened for writing.
        if Path((own / "gitdir").read_text().strip()).resolve() != git.resolve():
            return None
        return (own / (own / "commondir").read_text().strip()).resolve()
    except OSError:
        return None


def _linked(git: Path) -> Path:
    return (git.parent / git.read_text(errors="replace").strip().removeprefix("gitdir: ")).resolve()


@contextmanager
def _no_other_common(common: Path | None) -> Iterator[None]:
    """Git takes config and hooks from wherever the file `commondir` says. Ours says: from here."""
    if common is None:
        yield
        return
    file = common / "commondir"
    with suppress(FileExistsError), open(file, "x") as fresh:
        fresh.write(_ITSELF)
    try:
        yield
    finally:
        with suppress(OSError):
            if file.read_text() == _ITSELF:
                file.unlink()


def _if_there(*paths: Path) -> list[Mount]:
    return [Mount(str(path), False) for path in paths if os.path.lexists(path)]


def _refuse_links(mounts: Iterable[Mount]) -> None:
    for path, _ in mounts:
        if os.path.islink(path):
            raise NotRunnable(
                f"`{path}` is a symbolic link, and a sandbox cannot keep a link from being replaced",
                "Put the real file or directory in its place.",
            )
