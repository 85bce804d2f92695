"""Where a function of a project is: in a file, by its path, or in a module, by its dotted name.

A module of the project is the file it is in: nothing else of the project can be imported.
"""

from __future__ import annotations

from pathlib import Path


def is_file(where: str) -> bool:
    """Whether this is the path of a file, not the name of a module."""
    return where.endswith(".py") or "/" in where


def module_file(name: str, root: Path) -> str:
    """The file below `root` that a module is; "" for one that comes from elsewhere."""
    inside = name.replace(".", "/")
    return next((file for file in (f"{inside}.py", f"{inside}/__init__.py") if (root / file).is_file()), "")
