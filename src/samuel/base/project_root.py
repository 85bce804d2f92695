"""The root of the project that a directory belongs to. It imports nothing: the client of a server asks first."""

from __future__ import annotations

import os

CONFIG = "samuel.toml"
YAML_HOOKS = ".system/hooks"


def project_root(directory: str) -> str:
    """The nearest directory at or above `directory` with a samuel.toml, or the top of its git work tree.

    The top of a git work tree ends the search: a project never reaches into the repository around it, whose guards
    are asked apart (`trust/repository.py`). Without any, the nearest that has YAML hooks. Or else `directory`,
    which is absolute and leads over no link.
    """
    above, at = [], directory
    while at not in above:
        above.append(at)
        at = os.path.dirname(at)
    for place in above:
        if os.path.exists(f"{place}/.git") or os.path.isfile(f"{place}/{CONFIG}"):  # most have the former
            return place
    return next((place for place in above if os.path.isdir(f"{place}/{YAML_HOOKS}")), directory)
