"""What a plugin's directory holds: what it offers, and what must not be in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import Problem
from samuel.base.paths import DISABLED
from samuel.base.printable import file_name
from samuel.files.survey import MOST_FILES
from samuel.plugins.model import Manifest

HOOKS, SKILLS, RECIPES = "hooks", "skills", "recipes"
SKILL_FILE, RECIPE_ENDING = "SKILL.md", ".md"
GIT = ".git"
MOST_BYTES = 256 * 1024 * 1024
MAX_LINK_STEPS = 1_000  # names in a chain of links; the kernel gives up after 40 links


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
    """Everything that a plugin must not hold: links out of it, pipes and devices, too many or too large files."""
    problems: list[Problem] = []
    files, size = 0, 0
    for path, status in walk(str(directory), lambda path: path == GIT):  # which is never installed
        files += not stat.S_ISDIR(status.st_mode)
        size += status.st_size if stat.S_ISREG(status.st_mode) else 0
        if files > MOST_FILES:
            problems.append(Problem(f"it holds more than {MOST_FILES} files", file_name(str(directory))))
            break
        if why := _objection(str(directory), path, status.st_mode):
            problems.append(Problem(why, file_name(os.path.join(directory, path))))
    if size > MOST_BYTES:
        problems.append(
            Problem(f"its files are larger than {MOST_BYTES} bytes together", file_name(str(directory)))
        )
    return sorted(problems, key=lambda problem: problem.file)


def walk(directory: str, skipped: Callable[[str], bool]) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below the directory by its relative path, except what is skipped; links are not followed."""
    directories = [""]
    while directories:
        directory_path = directories.pop()
        with os.scandir(os.path.join(directory, directory_path)) as entries:
            for entry in entries:
                path = os.path.join(directory_path, entry.name)
                if skipped(path):
                    continue
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    directories.append(path)
                yield path, status


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
            return f"it is a link to a file that does not exist, `{target}`"
        # The user agrees to every file by its path, and a link to a directory gives its files more paths.
        return f"it is a link to a directory, `{target}`" if os.path.isdir(os.path.join(root, path)) else ""
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return "it is a pipe, a socket or a device"
    return ""


def _stays_inside(root: str, link: str) -> bool:
    """Whether a link stays in the plugin, followed name by name as the kernel does.

    One that goes out and comes back in does not: a plugin is moved when it is installed, which changes its target.
    """
    parents: list[str] = []
    remaining = link.split("/")[::-1]
    for _ in range(MAX_LINK_STEPS):
        if not remaining:
            return True
        name = remaining.pop()
        if name == "..":
            if not parents:
                return False
            parents.pop()
        elif name not in ("", "."):
            parents.append(name)
            try:
                target = os.readlink(os.path.join(root, *parents))
            except OSError:  # not a link, or it does not exist
                continue
            if target.startswith("/"):
                return False
            parents.pop()
            remaining += target.split("/")[::-1]
    return False  # a cycle


def _recipes(directory: Path) -> tuple[str, ...]:
    base, recipes = str(directory / RECIPES), []
    for directory_path, inner, names in os.walk(base):
        inner[:] = [name for name in inner if not name.startswith(".")]
        recipes += [
            os.path.relpath(os.path.join(directory_path, name), base).removesuffix(RECIPE_ENDING)
            for name in names
            if name.endswith(RECIPE_ENDING) and not name.startswith(".")
        ]
    return tuple(sorted(recipes))


def _names(directory: Path) -> tuple[str, ...]:
    """The names in a directory without hidden ones, sorted; none if it is not a readable directory."""
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
