"""The root of a project, as `paths.find_root` finds it, without its imports."""

from __future__ import annotations

import os


def project_root(directory: str) -> str:
    """The root of the project that a directory belongs to; the directory is absolute and leads over no link."""
    above, at = [], directory
    while at not in above:
        above.append(at)
        at = os.path.dirname(at)
    for place in above:
        if os.path.exists(f"{place}/.git") or os.path.isfile(f"{place}/samuel.toml"):  # most have the former
            return place
    return next((place for place in above if os.path.isdir(f"{place}/.system/hooks")), directory)
