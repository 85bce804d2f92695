"""Variables that name paths of a work tree, such as a PATH with the virtual environment that the user activated.

By these, checks in a clean room would run programs and import modules from where agents work. So they lead to the
room.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_NAME = r"[\w.+@~-]"  # a character that belongs to a name before or after it
_REST = r"[^:;,\s\"']*"


def lead_to(
    room: Path, work_tree: Path, variables: Mapping[str, str], *, if_it_exists: bool = False
) -> dict[str, str]:
    """The variables with each path at or below the work tree as the same path of the room.

    `if_it_exists`: only those which the room has.
    """
    path = re.compile(rf"(?<!{_NAME}){re.escape(str(work_tree))}(?!{_NAME})(?P<rest>{_REST})")

    def moved(match: re.Match[str]) -> str:
        inside = f"{room}{match['rest']}"
        return inside if not if_it_exists or os.path.lexists(inside) else match[0]

    after = {name: path.sub(moved, value) for name, value in variables.items()}
    if "PATH" in after:  # the shell that activated an environment may have come there by a link
        entries = (path.sub(moved, _without_links(entry, work_tree)) for entry in after["PATH"].split(os.pathsep))
        after["PATH"] = os.pathsep.join(entries)
    return after


def _without_links(entry: str, work_tree: Path) -> str:
    real = os.path.realpath(entry)
    return real if f"{real}/".startswith(f"{work_tree}/") else entry
