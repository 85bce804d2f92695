"""Which `git` is started: an absolute path, never one that a project or an agent could have put there.

A shell takes an empty entry of PATH, `.` and every relative one to mean the working directory: in a clone, `git`
would then be whatever the clone calls so. A directory inside the project (an activated `.venv/bin`) is writable
for the agent that works there, and git itself looks on PATH for the programs that it starts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from samuel.process import environment, interpreter

NAME = "git"


def git_program(variables: Mapping[str, str], project: Path | None) -> str:
    """The absolute path of git, or "" when PATH has none outside of the project."""
    return interpreter.look_up(NAME, path_outside(variables, project))


def path_outside(variables: Mapping[str, str], project: Path | None) -> str:
    """PATH without relative entries and without directories of the project."""
    entries = environment.absolute_entries(variables.get("PATH") or environment.DEFAULT_PATH)
    if project is not None:
        entries = [entry for entry in entries if not _is_inside(entry, project)]
    return os.pathsep.join(entries)


def _is_inside(entry: str, project: Path) -> bool:
    """By its name or by what it leads to: a link inside the project can be turned elsewhere."""
    places = (os.path.abspath(project), os.path.realpath(project))
    names = (os.path.abspath(entry), os.path.realpath(entry))
    return any(name == place or name.startswith(f"{place.rstrip('/')}/") for name in names for place in places)
