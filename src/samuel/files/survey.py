"""Every file below a directory, with a signature that changes when the file does.

Reading all of them to learn whether one changed would be slow. A file whose size, times, inode and mode are the
same has not changed either.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Signature = tuple[int, ...]

ITSELF = ""  # the name of a place that is a file, among the files in it
MOST_FILES = 5_000
# Python's caches are left out: hooks run with a cache of their own elsewhere, so these are never read. Whatever
# else lies beside them is not.
CACHES, CACHED = "__pycache__/", ".pyc"


class TooManyFiles(Exception):
    """A directory has more files than a survey covers."""


def survey(directory: str | Path, skip: Sequence[str] = ()) -> dict[str, Signature]:
    """Every file below `directory` by its relative path, with what tells whether it changed.

    `skip` names directories at its top that are left out.
    """
    signatures: dict[str, Signature] = {}
    waiting = [(str(directory), "")]
    while waiting:
        place, prefix = waiting.pop()
        cached = CACHED if prefix.endswith(CACHES) else ()
        with os.scandir(place) as entries:
            for entry in entries:
                own = entry.stat(follow_symlinks=False)
                kind = own.st_mode & 0o170000
                if kind == stat.S_IFDIR:
                    if prefix or entry.name not in skip:
                        waiting.append((entry.path, f"{prefix}{entry.name}/"))
                elif kind == stat.S_IFLNK:
                    signatures[prefix + entry.name] = signature(own) + target_signature(entry.path)
                elif not entry.name.endswith(cached):
                    signatures[prefix + entry.name] = signature(own)
        if len(signatures) > MOST_FILES:
            raise TooManyFiles(f"more than {MOST_FILES} files lie in `{directory}`")
    return signatures


def survey_place(place: str) -> dict[str, Signature]:
    """What `survey` has of a directory; of a file, its own signature under the name ""; {} where nothing is."""
    try:
        return survey(place)
    except FileNotFoundError:
        return {}
    except NotADirectoryError:  # also where a directory above it is a file
        return {ITSELF: own} if (own := signature_if_exists(place)) else {}


def is_as_before(place: str, before: Mapping[str, Sequence[int]]) -> bool:
    """Whether `survey_place` gives what it gave before. Faster for most places, where nothing was, or a file."""
    if not before:
        try:
            os.lstat(place)
        except FileNotFoundError:
            return True
        except OSError:
            pass  # the survey says what it means
    elif ITSELF in before and signature_if_exists(place) == before[ITSELF]:
        return True
    return survey_place(place) == before


def signature(status: os.stat_result) -> Signature:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode


def file_signature(path: str | Path) -> Signature:
    """The signature of one file, as `survey` has it."""
    own = os.lstat(path)
    return signature(own) + (target_signature(path) if stat.S_ISLNK(own.st_mode) else ())


def signature_if_exists(path: str | Path) -> Signature:
    """The signature of one file; () if there is none."""
    try:
        return file_signature(path)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return ()


def target_signature(path: str | Path) -> Signature:
    """The signature of what a path leads to, through links; () if there is nothing."""
    try:
        return signature(os.stat(path))
    except OSError:
        return ()
