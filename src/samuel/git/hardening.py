"""Which `git` is started, and under which settings, variables and options it starts nothing of a repository's.

The program is an absolute path, never one that a project or an agent could have put there. A shell takes an empty
entry of PATH, `.` and every relative one to mean the working directory: in a clone, `git` would then be whatever
the clone calls so. A directory inside the project (an activated `.venv/bin`) is writable for the agent that works
there, and git itself looks on PATH for the programs that it starts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from samuel.process import environment, interpreter

# Given through the environment, because `-c` cuts a name at its first `=` and a filter may be called `a=b`.
SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.sshCommand": "false",
    "gpg.program": "false",
    "log.showSignature": "false",
    "log.showRoot": "false",  # the first commit "touched" every file: not worth a hundred thousand names
    "diff.external": "",
    "submodule.recurse": "false",  # a submodule has a configuration of its own
    "safe.bareRepository": "explicit",  # a folder that only looks like a repository is not one
    "protocol.allow": "never",
    "color.ui": "false",
}
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # reads stay reads: the index is not refreshed, which would get in an agent's way
    "GIT_ALLOW_PROTOCOL": "none",  # a list with no real protocol in it; stronger than any configuration
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# By command: what no setting can switch off.
OPTIONS = {
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    "log": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "show": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "grep": ("--no-textconv",),
    "status": ("--ignore-submodules=all",),  # looking into one starts another git, there
}


NOT_FOUND = "`git` was not found on PATH outside of the project"
NAME = "git"


def configured(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables by which git gets these settings, which override those of all files."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def without_filters(names: Iterable[str]) -> dict[str, str]:
    """The settings that switch off the filter drivers of these names."""
    # Empty means none; `required` would make "none" an error.
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"filter.{name}.{key}": value for name in names for key, value in values.items()}


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
