"""Copying directories of an environment with their times and rights, and telling whether they changed since."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.base.printable import file_name, safe
from samuel.files.survey import Signature, signature
from samuel.process import spawn

# What checks and editors keep for themselves. A cache that another tree filled can make a check pass.
CACHES = frozenset(
    (
        *(
            ".vite",
            ".vitest",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
            ".hypothesis",
            ".tox",
            ".nox",
            ".coverage",
        ),
        *("htmlcov", ".cache", ".parcel-cache", ".turbo", ".nyc_output", "coverage", ".eslintcache", ".gradle"),
        *(".idea", ".vscode", ".DS_Store", ".direnv"),
    )
)
_COPY = ("cp", "-a", "--reflink=auto") if sys.platform == "linux" else ("cp", "-a")
_LINK = ("cp", "-al")
_TIMEOUT = 1800.0
_RELOCATED = ("bin/*", "Scripts/*", "pyvenv.cfg")
_RELOCATED_PACKAGES = ("*.pth", "*.egg-link", "__editable__*", "*.dist-info/direct_url.json")
_MOST_RELOCATED = 1 << 20  # bytes of a file that names a path


def copy(source: Path, target: Path, *, links: bool = False) -> None:
    """Copy a file or a directory with its times and rights, or make hard links to its files.

    Raises SamuelError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [*(_LINK if links else _COPY), "--", str(source), str(target)]
    finished = spawn.run(words, cwd="/", env=os.environ, timeout=_TIMEOUT)
    if finished.ended != "exited" or finished.returncode != 0:
        problem = safe(finished.stderr.decode("utf-8", "replace")).strip() or finished.ended
        raise SamuelError(f"cannot copy `{file_name(source.name)}`: {problem[-300:]}", "make room on that disk")


def copy_file(source: Path, target: Path) -> None:
    """Copy one file or link over whatever is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove(target)
    shutil.copy2(source, target, follow_symlinks=False)


def remove(path: Path) -> None:
    """Remove a file or a directory with all that is in it, also what its owner made unwritable."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    except FileNotFoundError:
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        for directory, _, _ in os.walk(path):
            os.chmod(directory, 0o700)
        shutil.rmtree(path)


def survey_copy(path: Path, *, is_swept: bool = False) -> dict[str, Signature]:
    """Every file at or below a path by its name there, with what tells whether it changed.

    Caches are left out; `is_swept` removes them.
    """
    try:
        own = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    if not stat.S_ISDIR(own.st_mode):
        return {"": signature(own)}
    signatures: dict[str, Signature] = {}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(f"{path}/{prefix}") as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    signatures[prefix + entry.name] = signature(entry.stat(follow_symlinks=False))
                elif entry.name not in CACHES:
                    waiting.append(f"{prefix}{entry.name}/")
                elif is_swept:
                    remove(Path(entry.path))
    return signatures


def size_of(signatures: dict[str, Signature]) -> int:
    """The bytes in the files of a survey."""
    return sum(facts[0] for facts in signatures.values())


def relocate(directory: Path, old: Path, new: Path) -> None:
    """Let the virtual environments at or below a directory, which were made at `old`, be used at `new`."""
    for file in _naming_their_place(directory):
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_RELOCATED:
            continue
        content = file.read_bytes()
        if os.fsencode(old) in content and b"\0" not in content:
            mode = file.stat().st_mode
            file.unlink()  # it may be a hard link to the original
            file.write_bytes(content.replace(os.fsencode(old), os.fsencode(new)))
            file.chmod(stat.S_IMODE(mode))


def relocate_links(directory: Path, files: Mapping[str, Signature], old: Path, new: Path) -> None:
    """Let the links among the files of this directory that lead to a path below `old` lead to one below `new`."""
    for name, own in files.items():
        if not stat.S_ISLNK(own[-1]):
            continue
        link = f"{directory}/{name}" if name else str(directory)
        target = os.readlink(link)
        if target.startswith(f"{old}/"):
            os.unlink(link)
            os.symlink(f"{new}{target[len(str(old)) :]}", link)


def _naming_their_place(directory: Path) -> Iterator[Path]:
    """The files of virtual environments at or below a directory that name the place they are at."""
    for config in [directory / "pyvenv.cfg", *directory.glob("*/pyvenv.cfg")]:
        if config.is_file():
            place = config.parent
            for pattern in _RELOCATED:
                yield from place.glob(pattern)
            for packages in place.glob("lib/python*/site-packages"):
                for pattern in _RELOCATED_PACKAGES:
                    yield from packages.glob(pattern)
