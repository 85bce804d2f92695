"""Read the files of a knowledge base: their paths, and YAML mappings key by key.

Paths in them are relative to the routing root, with or without a leading `/`, and never lead out of it.

One bad entry must not hide the others, so a file is read on after a problem: a value that is wrong counts as
missing. That is the difference to a file of `config`, which is refused with any problem.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import safe, shorten
from samuel.config import kinds
from samuel.config.reader import ConfigTable, ProblemReport
from samuel.files.inside import open_inside
from samuel.routing.knowledge.model import STAGES

MOST_UNKNOWN = 20
"""Unknown keys of one mapping that are listed one by one."""
NEARLY = 0.85  # `topic` is nearly `topics`, and `tags` is not `stages`

_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "a mapping"}


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


class FileProblems(ProblemReport):
    """The problems of one file."""

    def problems(self) -> tuple[Problem, ...]:
        return tuple(sorted(self._problems, key=lambda problem: problem.line))  # stable within a line


class Values(ConfigTable):
    """One mapping. Every key that is read is a valid one."""

    def note(self, what: str, hint: str) -> None:
        """Add a problem of the mapping itself."""
        self._report.add(self.path, what, hint)

    def text(self, key: str, *, needed: bool = False) -> str:
        """The value as one line; "" if it is missing."""
        value = self.take(key, kinds.any_value, None)
        if isinstance(value, str) and value.strip():
            return safe(" ".join(value.split()), keep="")
        if value is not None and not isinstance(value, str):
            hint = "" if isinstance(value, (dict, list)) else "put it in quotes"
            self.refuse(key, f"`{key}` must be text, not {_type(value)}", hint)
        elif key in self._values:
            self.refuse(key, f"`{key}` is empty")
        elif needed:
            self.note(f"`{key}` is missing", f"add `{key}: ...`")
        return ""

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text alone is a list of one."""
        value = self.take(key, kinds.any_value, None)
        if value is None:
            return ()
        items: list[Any] = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str) and item.strip() for item in items):
            self.refuse(key, f"`{key}` must be a list of texts")
            return ()
        return tuple(dict.fromkeys(safe(" ".join(item.split()), keep="") for item in items))

    def stages(self, key: str) -> tuple[str, ...]:
        words = self.texts(key)
        for word in words:
            if word not in STAGES:
                hint = did_you_mean(word.lower(), STAGES, f"one of {', '.join(STAGES)}")
                self.refuse(key, f"`{shorten(word)}` is not a stage", hint)
        return tuple(word for word in words if word in STAGES)

    def path_at(self, key: str) -> str:
        value = self.take(key, kinds.any_value, None)
        text = value if isinstance(value, str) and value.strip() else self.text(key, needed=True)
        if not text:
            return ""
        try:
            return from_root(text)
        except ValueError as error:
            self.refuse(key, f"`{key}` {error}", "write it from there: `/docs/name.md`")
            return ""

    def entries(self, key: str, most: int) -> Iterator[Values]:
        """The mappings of a list."""
        value = self.take(key, kinds.any_value, None)
        if not isinstance(value, list):
            if value is not None:
                hint = f"begin each entry of `{key}` with `- `"
                self.refuse(key, f"`{key}` must be a list, not {_type(value)}", hint)
            return
        for at, item in enumerate(value[:most]):
            if isinstance(item, dict):
                yield Values(self._report, item, (*self.path, key, at))
            else:
                what = f"an entry of `{key}` must be a mapping, not {_type(item)}"
                self._report.add((*self.path, key, at), what)
        if len(value) > most:
            what = f"`{key}` has {len(value)} entries; those after the first {most} are left out"
            self._report.add((*self.path, key, most), what, "split the file")

    def refuse_unread(self) -> None:
        """Add a problem for every key that was not read. Call it last."""
        unread = self._unread()
        # A key that is present cannot be the one that was meant.
        absent = [key for key in self._keys_read if key not in self._values]
        for key in unread[:MOST_UNKNOWN]:
            valid_keys = ", ".join(f"`{valid}`" for valid in self._keys_read)
            hint = did_you_mean(key, absent, f"known here: {valid_keys}")
            self.refuse(key, f"unknown key `{shorten(key)}`", hint)
        if len(unread) > MOST_UNKNOWN:
            self.refuse(unread[MOST_UNKNOWN], f"{len(unread) - MOST_UNKNOWN} more unknown keys")

    def refuse_misspelt(self) -> None:
        """The same for a mapping that other tools use too: only keys that are almost a valid one are problems."""
        for key in self._unread()[:MOST_UNKNOWN]:
            if hint := did_you_mean(key, self._keys_read, cutoff=NEARLY):
                self.refuse(key, f"unknown key `{shorten(key)}`", hint)

    def _unread(self) -> list[str]:
        return [key for key in self._values if key not in self._keys_read]


def _type(value: object) -> str:
    return _TYPES.get(type(value), "nothing")
