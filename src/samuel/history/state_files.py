"""Files of a run's state that an agent replaced by a link, a named pipe or a directory, and putting them right.

An agent may write in `.samuel/run/`. A link, a named pipe or a directory where the loop expects a file would make
the loop fail, hang or write somewhere else; so it is moved out of the way before the loop uses it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from samuel.agents.process_files import LOGS, PROMPTS, is_run_name
from samuel.base.paths import HOME
from samuel.files import atomic
from samuel.files.put_inside import ASIDE, put_aside
from samuel.files.regular import read_regular

PROGRESS = "progress.md"
FILES = (
    *("prd.toon", "run.json", PROGRESS, "summary.md", ".gitignore"),
    *("run.lock", "state.lock", "move.lock"),
    *("last-attempt.diff", "project-snapshot.toon", "progress-context.md", "task-context.toon", "prd-context.md"),
    *("prd-documents.json", "origins.json"),
)
DIRECTORIES = (
    *("journal", "sessions", "plugins", LOGS, "archive", "extra", PROMPTS, "history", "reports", "junit", "usage"),
    *("bin", "shim", "spool", ASIDE),
)
OF_RUNS = (LOGS, PROMPTS, "reports")  # each run has a directory of its own in these
NOT_LOOKED_INTO = ("plugins", "spool", ASIDE)  # others write there, and may write what they like

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


class StateFiles:
    """The files of one run's state while agents and checks work: what they replace is put right and remembered.

    Notes that they remove, with `git clean -x` for example, are there again; the tasks are rebuilt by their seal.
    """

    def __init__(self, root: Path, state: Path) -> None:
        self._root = root
        self._state = state
        self._replaced: list[str] = []
        self._misplaced_before: set[Path] = set()
        self._progress: bytes = b""

    def expect_intact(self) -> None:
        """From now on, whatever becomes misplaced was replaced by the process that is about to work."""
        self._replaced, self._misplaced_before = [], misplaced(self._root, self._state)
        with suppress(OSError):
            self._progress = read_regular(self._state / PROGRESS, follow=False)

    def put_right(self) -> list[str]:
        """Put right what was replaced; a sentence for each file replaced since `expect_intact`."""
        self._replaced += put_right(self._root, self._state, self._misplaced_before)
        if self._progress and not os.path.lexists(self._state / PROGRESS):
            atomic.write_bytes(self._state / PROGRESS, self._progress, durable=False)
        return self._replaced


def misplaced(root: Path, state: Path) -> set[Path]:
    """The paths of the wrong kind, in the state directory and in the one that all runs share."""
    return {directory / name for directory in _directories(root, state) for name in _misplaced(directory)}


def put_right(root: Path, state: Path, misplaced_before: Collection[Path] = ()) -> list[str]:
    """Move aside what is misplaced now and was not before; a short sentence for each."""
    problems: list[str] = []
    for directory in _directories(root, state):
        problems += _directory_itself(root, directory)
        for name in _misplaced(directory):
            if directory / name in misplaced_before:
                continue
            kind = _kind(directory / name)
            if name == ASIDE:
                os.unlink(directory / name)
                where = "it was removed"
            else:
                where = f"it was moved to `{_relative(root, directory / put_aside(directory, name))}`"
            problems.append(f"`{_relative(root, directory / name)}` became {kind}; {where}")
    return problems


def _directories(root: Path, state: Path) -> Iterable[Path]:
    return dict.fromkeys((root / HOME / "run", state))


def _directory_itself(root: Path, directory: Path) -> list[str]:
    """Make the state directory again if it was removed or replaced; a sentence if it was replaced."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.lstat(directory).st_mode):
            return []
        kind = _kind(directory)
        os.unlink(directory)
        directory.mkdir()
        return [f"`{_relative(root, directory)}` became {kind}; it was removed"]
    directory.mkdir(parents=True)
    return []


def _misplaced(directory: Path) -> Iterator[str]:
    """Names of the wrong kind in a state directory, and everything but files in the directories of the loop."""
    kinds = _kinds(directory)
    for name, expected in _EXPECTED.items():
        kind = kinds.get(name)
        if kind is not None and kind != expected:
            yield name
        elif kind == stat.S_IFDIR and name not in NOT_LOOKED_INTO:
            others = _other_than_files(directory, name)
            runs = [other for other in others if name in OF_RUNS and _is_of_a_run(directory / name, other)]
            yield from (f"{name}/{other}" for other in others if other not in runs)
            if runs:
                # The ids of runs sort by time. The files of earlier runs are not written to any more.
                newest = f"{name}/{max(runs)}"
                yield from (f"{newest}/{other}" for other in _other_than_files(directory, newest))


def _kinds(directory: Path) -> dict[str, int]:
    """The kinds of what is in a directory and has a place there: this is asked around every process."""
    kinds = {}
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name in _EXPECTED:
                with suppress(OSError):
                    kinds[entry.name] = stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode)
    return kinds


def _other_than_files(directory: Path, name: str) -> list[str]:
    with os.scandir(directory / name) as entries:
        return [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]


def _is_of_a_run(directory: Path, name: str) -> bool:
    return is_run_name(name) and _type(directory / name) == stat.S_IFDIR


def _type(path: Path) -> int | None:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return None


def _kind(path: Path) -> str:
    kind = _type(path)
    where = f" to `{os.readlink(path)}`" if kind == stat.S_IFLNK else ""
    return _KINDS.get(kind or 0, "a device") + where


def _relative(root: Path, path: Path) -> str:
    return str(path.relative_to(root))
