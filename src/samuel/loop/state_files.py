"""The files of a run's state are files, and its directories are directories, also after an agent worked there.

An agent may write in `.samuel/run/`. A link, a named pipe or a directory where the loop expects a file would make
the loop fail, hang or write somewhere else; so it is moved out of the way before the loop uses it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from samuel.files.aside import DIRECTORY, put_aside
from samuel.paths import HOME

FILES = (
    *("prd.toon", "run.json", "progress.md", "summary.md", ".gitignore"),
    *("run.lock", "state.lock", "move.lock"),
    *("project-snapshot.toon", "progress-context.md", "task-context.toon"),
)
DIRECTORIES = (
    *("journal", "sessions", "plugins", "logs", "archive", "extra", "prompts"),
    *("bin", "shim", "spool", DIRECTORY),
)
OF_OTHERS = ("plugins", "spool", DIRECTORY)  # what lies in these is not the loop's to judge

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFDIR: "a directory",
    stat.S_IFREG: "a file",
    stat.S_IFSOCK: "a socket",
}
_EXPECTED: Mapping[str, int] = {
    **dict.fromkeys(FILES, stat.S_IFREG),
    **dict.fromkeys(DIRECTORIES, stat.S_IFDIR),
}


def misplaced(root: Path, state: Path) -> set[Path]:
    """What is not what it should be, in the state directory and the one that all runs share."""
    return {directory / name for directory in _directories(root, state) for name in _misplaced(directory)}


def put_right(root: Path, state: Path, known: Collection[Path] = ()) -> list[str]:
    """Move aside what is misplaced, all but what was `known` to be; gives a short sentence for each."""
    problems: list[str] = []
    for directory in _directories(root, state):
        problems += _directory_itself(root, directory)
        for name in _misplaced(directory):
            if directory / name in known:
                continue
            kind = _kind(directory / name)
            if name == DIRECTORY:
                os.unlink(directory / name)
                where = "it is removed"
            else:
                where = f"it lies in `{_shown(root, directory / put_aside(directory, name))}` now"
            problems.append(f"`{_shown(root, directory / name)}` became {kind}; {where}")
    return problems


def _directories(root: Path, state: Path) -> Iterable[Path]:
    return dict.fromkeys((root / HOME / "run", state))


def _directory_itself(root: Path, directory: Path) -> list[str]:
    """A state directory that is gone, or that was replaced, is made again."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.lstat(directory).st_mode):
            return []
        kind = _kind(directory)
        os.unlink(directory)
        directory.mkdir()
        return [f"`{_shown(root, directory)}` became {kind}; it is removed"]
    directory.mkdir(parents=True)
    return [f"`{_shown(root, directory)}` was removed"]


def _misplaced(directory: Path) -> Iterator[str]:
    """What is of the wrong kind: by name in the directory itself, anything but files in the loop's own ones."""
    for name, expected in _EXPECTED.items():
        kind = _type(directory / name)
        if kind is not None and kind != expected:
            yield name
        elif kind == stat.S_IFDIR and name not in OF_OTHERS:
            with os.scandir(directory / name) as entries:
                names = [f"{name}/{entry.name}" for entry in entries if not entry.is_file(follow_symlinks=False)]
            yield from names


def _type(path: Path) -> int | None:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return None


def _kind(path: Path) -> str:
    kind = _type(path)
    where = f" to `{os.readlink(path)}`" if kind == stat.S_IFLNK else ""
    return _KINDS.get(kind or 0, "a device") + where


def _shown(root: Path, path: Path) -> str:
    return str(path.relative_to(root))
