"""What lies in a plugin's directory: what it offers, and what must not be in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.errors import Problem
from samuel.files.survey import MOST_FILES
from samuel.paths import DISABLED
from samuel.plugins.model import Manifest
from samuel.printable import file_name

HOOKS, SKILLS, RECIPES = "hooks", "skills", "recipes"
SKILL_FILE, RECIPE_ENDING = "SKILL.md", ".md"
GIT = ".git"
MOST_BYTES = 256 * 1024 * 1024
MOST_STEPS = 1_000  # names in a chain of links; the kernel gives up after 40 links


class Contents(NamedTuple):
    """What a plugin offers, by name."""

    skills: tuple[str, ...]
    recipes: tuple[str, ...]
    hooks: tuple[str, ...]


def contents(directory: Path, manifest: Manifest) -> Contents:
    bound = tuple(dict.fromkeys(binding.entry for binding in manifest.bindings))
    files = tuple(name for name in hook_files(directory) if f"{HOOKS}/{name}" not in bound)
    return Contents(skill_names(directory), _recipes(directory), (*bound, *files))


def skill_names(directory: Path) -> tuple[str, ...]:
    """The directories of `skills/` that hold a SKILL.md."""
    return tuple(name for name in _names(directory / SKILLS) if (directory / SKILLS / name / SKILL_FILE).is_file())


def hook_files(directory: Path) -> tuple[str, ...]:
    """The executables of `hooks/` that are switched on. Other files there are helpers."""
    names = _names(directory / HOOKS)
    return tuple(
        name
        for name in names
        if not name.endswith(("~", DISABLED))
        and name + DISABLED not in names
        and _is_executable(directory / HOOKS / name)
    )


def escapes(directory: Path) -> list[Problem]:
    """Everything in the directory that no plugin may hold: ways out of it, things that are no files, too much."""
    problems: list[Problem] = []
    files, size = 0, 0
    for path, found in _walk(str(directory)):
        files += not stat.S_ISDIR(found.st_mode)
        size += found.st_size if stat.S_ISREG(found.st_mode) else 0
        if files > MOST_FILES:
            problems.append(Problem(f"it holds more than {MOST_FILES} files", file_name(str(directory))))
            break
        if why := _objection(str(directory), path, found.st_mode):
            problems.append(Problem(why, file_name(os.path.join(directory, path))))
    if size > MOST_BYTES:
        problems.append(
            Problem(f"its files are larger than {MOST_BYTES} bytes together", file_name(str(directory)))
        )
    return sorted(problems, key=lambda problem: problem.file)


def _walk(directory: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below it by its relative path; links are told and not followed. `.git` is never installed."""
    waiting = [""]
    while waiting:
        place = waiting.pop()
        with os.scandir(os.path.join(directory, place)) as entries:
            for entry in entries:
                path = os.path.join(place, entry.name)
                if path == GIT:
                    continue
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    waiting.append(path)
                yield path, found


def _objection(root: str, path: str, mode: int) -> str:
    name = os.path.basename(path)
    if name != file_name(name):
        return "its name is not UTF-8"
    if not name.isprintable():
        return "its name holds control characters"
    if stat.S_ISLNK(mode):
        target = file_name(os.readlink(os.path.join(root, path)))
        if not _stays_inside(root, path):
            return f"it is a link that leaves the plugin, to `{target}`"
        if not os.path.exists(os.path.join(root, path)):
            return f"it is a link to nothing, `{target}`"
        # What a person agrees to is every file by its path, and this would give the same files further paths.
        return f"it is a link to a directory, `{target}`" if os.path.isdir(os.path.join(root, path)) else ""
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return "it is a pipe, a socket or a device"
    return ""


def _stays_inside(root: str, link: str) -> bool:
    """Followed name by name, as the kernel does. One that goes out and comes back in leaves as well: a plugin is
    moved when it is installed, and then it would lead to another place."""
    here: list[str] = []
    ahead = link.split("/")[::-1]
    for _ in range(MOST_STEPS):
        if not ahead:
            return True
        name = ahead.pop()
        if name == "..":
            if not here:
                return False
            here.pop()
        elif name not in ("", "."):
            here.append(name)
            try:
                target = os.readlink(os.path.join(root, *here))
            except OSError:  # no link, or nothing at all
                continue
            if target.startswith("/"):
                return False
            here.pop()
            ahead += target.split("/")[::-1]
    return False  # it goes round and round


def _recipes(directory: Path) -> tuple[str, ...]:
    base, found = str(directory / RECIPES), []
    for place, inner, names in os.walk(base):
        inner[:] = [name for name in inner if not name.startswith(".")]
        found += [
            os.path.relpath(os.path.join(place, name), base).removesuffix(RECIPE_ENDING)
            for name in names
            if name.endswith(RECIPE_ENDING) and not name.startswith(".")
        ]
    return tuple(sorted(found))


def _names(directory: Path) -> tuple[str, ...]:
    """What is in it but for what is hidden, sorted; nothing when it is no directory that can be read."""
    try:
        listed = os.listdir(directory)
    except OSError:
        return ()
    return tuple(sorted(name for name in listed if not name.startswith(".")))


def _is_executable(file: Path) -> bool:
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o111)
