"""Paths as routing files write them: from the routing root, with or without a leading `/`, and never out of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from samuel.errors import ConfigError, Problem, SamuelError
from samuel.files.inside import open_inside
from samuel.printable import shorten


def from_root(written: str) -> str:
    """The path below the routing root; a ValueError that completes the sentence "`path` ..." if there is none.

    A `..` is refused even where it would stay inside: what a path means must not depend on links on its way.
    """
    if not written.isprintable():
        raise ValueError(f"is `{shorten(written)}`, with characters that no path needs")
    relative = written.removeprefix("/").removeprefix("./")
    names = relative.split("/")
    if ".." in names:
        raise ValueError(f"leaves the directory of ROUTING.md: `{shorten(written)}`")
    if "" in names or "." in names:
        raise ValueError(f"is `{shorten(written)}`, which is no file below the directory of ROUTING.md")
    return relative


def contents(root: Path, path: str, limit: int) -> bytes:
    """The file at a path that `from_root` gave; ConfigError where it is missing, behind a link, or too large."""
    with open(opened(root, path), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _refusal(root, path, f"it is larger than {limit} bytes", "split it")
    return data


def opened(root: Path, path: str) -> int:
    """A descriptor of the file at a path that `from_root` gave; ConfigError as above."""
    try:
        fd = open_inside(root, path, flags=os.O_RDONLY)
    except FileNotFoundError:
        raise _refusal(root, path, "there is no such file") from None
    except SamuelError as error:
        raise _refusal(root, path, error.message.removesuffix("."), error.hint) from None
    except OSError as error:
        raise _refusal(root, path, f"it cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _refusal(root, path, "it is a directory")
    return fd


def _refusal(root: Path, path: str, what: str, hint: str = "") -> ConfigError:
    return ConfigError([Problem(what, str(root / path), 0, hint)])
