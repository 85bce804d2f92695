"""Checks that the handlers of a manifest exist in the plugin. Nothing is run or imported."""

from __future__ import annotations

import keyword
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from samuel.base.printable import shorten
from samuel.files.inside import is_inside
from samuel.plugins.bindings import BoundHandler
from samuel.plugins.model import OCI, PYTHON, SKILL, WASM

_SUBCOMMAND = re.compile(r"[a-z0-9][a-z0-9_.-]*", re.IGNORECASE)


def check(directory: Path, kind: str, bound: BoundHandler) -> None:
    """Report a problem with a binding whose handler does not exist or does not suit the plugin's kind."""
    if bound.binding.entry and kind in _CHECKS and (why := _CHECKS[kind](directory, bound.binding.entry)):
        bound.refuse(why)


def file_problem(directory: Path, path: str) -> str:
    """Why `path` is not a file of the plugin; "" if it is one. A link must stay inside."""
    if any(name in ("", ".", "..") for name in path.split("/")):
        return f"`{shorten(path)}` must be a path inside the plugin, like `scripts/check`"
    file = directory / path
    if not os.path.lexists(file):
        return f"`{shorten(path)}` does not exist in the plugin"
    if not is_inside(file, directory):
        return f"`{shorten(path)}` is a link that leaves the plugin"
    try:
        mode = os.stat(file).st_mode
    except OSError as error:
        return f"`{shorten(path)}` cannot be read: {error.strerror}"
    return "" if stat.S_ISREG(mode) else f"`{shorten(path)}` is not a regular file"


def _script(directory: Path, entry: str) -> str:
    if why := file_problem(directory, entry):
        return why
    executable = os.stat(directory / entry).st_mode & 0o111
    return "" if executable else f"`{shorten(entry)}` is not executable; run `chmod +x` on it"


def _function(directory: Path, entry: str) -> str:
    """`function`, of the plugin's module, or `file.py:function`."""
    file, colon, name = entry.rpartition(":")
    if not name.isidentifier() or keyword.iskeyword(name):
        return f"`{shorten(entry)}` must name a function: `function`, or `file.py:function`"
    if not colon:
        return ""
    return file_problem(directory, file) if file.endswith(".py") else f"`{shorten(file)}` must be a `.py` file"


def _export(directory: Path, entry: str) -> str:
    return f"`{shorten(entry)}` cannot name an export: it has spaces" if " " in entry else ""


def _subcommand(directory: Path, entry: str) -> str:
    if _SUBCOMMAND.fullmatch(entry):
        return ""
    return f"`{shorten(entry)}` cannot be a subcommand: use letters, digits, `-`, `_` and `.`"


_CHECKS: Mapping[str, Callable[[Path, str], str]] = MappingProxyType(
    {SKILL: _script, PYTHON: _function, WASM: _export, OCI: _subcommand}
)
