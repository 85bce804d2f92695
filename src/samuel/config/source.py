"""Reads and parses a TOML file; whatever is wrong with it becomes a ConfigError."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import ConfigError, Problem
from samuel.files.toml.lines import TOO_DEEP, TomlTooDeep, toml_values

LARGEST = 1024 * 1024

_BOM = b"\xef\xbb\xbf"


class TomlSource(NamedTuple):
    """A TOML file: its text, and the values in it."""

    text: str
    values: dict[str, object]


def read_source(file: Path) -> TomlSource | None:
    """The file's text and values; None if there is no such file; ConfigError if it cannot be read as TOML."""
    data = _read(file)
    if data is None:
        return None
    text = _decode(data, file)
    return TomlSource(text, _parse(text, file))


def _read(file: Path) -> bytes | None:
    try:
        # The open file is checked, not the path, so that nothing can be swapped. O_NONBLOCK: a pipe must not hang.
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            kind = os.fstat(fd).st_mode
            if stat.S_ISDIR(kind):
                raise _refusal(file, "is a directory", hint="put a file there, or remove it")
            if not stat.S_ISREG(kind):
                raise _refusal(file, "is not a regular file", hint="put a plain file there, or remove it")
            with open(fd, "rb", closefd=False) as opened:
                data = opened.read(LARGEST + 1)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _refusal(file, "is a symbolic link", hint="put the file itself there") from None
        raise _refusal(file, f"cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise _refusal(file, f"is larger than {LARGEST} bytes", hint="make it smaller")
    return data


def _decode(data: bytes, file: Path) -> str:
    if data.startswith(_BOM):
        raise _refusal(file, "starts with a byte order mark", line=1, hint="save it as UTF-8 without one")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(file, "is not UTF-8", line=line, hint="save it as UTF-8") from None


def _parse(text: str, file: Path) -> dict[str, object]:
    try:
        return toml_values(text)
    except TomlTooDeep as error:
        raise _refusal(file, TOO_DEEP, line=error.line, hint="make it flatter") from None
    except ValueError as error:  # TOMLDecodeError, or a plain one for an integer of thousands of digits
        from samuel.files.toml.syntax import syntax_problem  # only for people who have to look at the file

        what, line, hint = syntax_problem(error, text)
        raise ConfigError([Problem(what, str(file), line, hint)]) from None


def _refusal(file: Path, what: str, *, line: int = 0, hint: str = "") -> ConfigError:
    return ConfigError([Problem(f"the file {what}", str(file), line, hint)])
