"""Paths in routing files: relative to the routing root, with or without a leading `/`, and never out of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.base.printable import shorten
from samuel.files.inside import open_inside


def from_root(path: str) -> str:
    """The path below the routing root; a ValueError that completes the sentence "`path` ..." if it is not valid.

    A `..` is refused even where it would stay inside: what a path means must not depend on links on its way.
    """
    if not path.isprintable():
        raise ValueError(f"is `{shorten(path)}`, with unprintable characters")
    relative = path.removeprefix("/").removeprefix("./")
    names = relative.split("/")
    if ".." in names:
        raise ValueError(f"leaves the directory of ROUTING.md: `{shorten(path)}`")
    if "" in names or "." in names:
        raise ValueError(f"is `{shorten(path)}`, which is not a file below the directory of ROUTING.md")
    return relative


def read_contents(root: Path, path: str, limit: int) -> bytes:
    """The content of a file below the root; ConfigError if it is missing, behind a link, or too large."""
    with open(open_file(root, path), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _refusal(root, path, f"it is larger than {limit} bytes", "split it")
    return data


def open_file(root: Path, path: str) -> int:
    """A descriptor of a file below the root; ConfigError if it is missing, behind a link, or a directory."""
    try:
        fd = open_inside(root, path, flags=os.O_RDONLY)
    except FileNotFoundError:
        raise _refusal(root, path, "there is no such file") from None
    except SamuelError as error:
        raise _refusal(root, path, error.message, error.hint) from None
    except OSError as error:
        raise _refusal(root, path, f"it cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _refusal(root, path, "it is a directory")
    return fd


def _refusal(root: Path, path: str, what: str, hint: str = "") -> ConfigError:
    return ConfigError([Problem(what, str(root / path), 0, hint)])
