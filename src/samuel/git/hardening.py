"""The settings, variables and options under which git starts no program that a repository names."""

from __future__ import annotations

from collections.abc import Iterable

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


def without_filters(names: Iterable[str]) -> dict[str, str]:
    """The settings that switch off the filter drivers of these names."""
    # Empty means none; `required` would make "none" an error.
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"filter.{name}.{key}": value for name in names for key, value in values.items()}
