"""The directories that `bridge add` made, so that `bridge remove` removes no empty one that was there before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from samuel.base.paths import User
from samuel.files import atomic
from samuel.files.regular import read_regular


def made_directories(user: User) -> frozenset[Path]:
    try:
        names = json.loads(read_regular(_file(user)))
    except (OSError, ValueError):  # without the record the directories stay, empty
        return frozenset()
    return (
        frozenset(Path(name) for name in names if isinstance(name, str))
        if isinstance(names, list)
        else frozenset()
    )


def remember_directories(user: User, directories: Sequence[Path]) -> None:
    if directories:
        _save(user, made_directories(user) | set(directories))


def forget_directories(user: User) -> None:
    """Drop those that are gone."""
    directories = made_directories(user)
    existing = frozenset(directory for directory in directories if directory.is_dir())
    if existing != directories:
        _save(user, existing)


def _save(user: User, directories: frozenset[Path]) -> None:
    atomic.write_text(_file(user), json.dumps(sorted(map(str, directories)), indent=1) + "\n")


def _file(user: User) -> Path:
    return user.state / "bridge-directories.json"
