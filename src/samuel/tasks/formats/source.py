"""The file, directory or standard input that tasks are read from."""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem, UsageError
from samuel.base.printable import file_name
from samuel.files.json_text import JsonNode, JsonSyntaxError, value_at
from samuel.files.regular import read_regular
from samuel.tasks.commonmark import OutlineLimit
from samuel.tasks.outline import PrdOutline, read_outline

LARGEST = 64 * 1024 * 1024  # bytes
_LINE_END = re.compile(r"\r\n|\r|\n")
# A list begins with a value or is empty; `[ ] a task` and `[a link](b)` are text.
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*(?:[\[{\"\d-]|true|false|null|\]?\s*\Z))")
BYTE_ORDER_MARK = "\ufeff"


class TaskSource:
    """A source that was read once.

    `path` is None for standard input, and for tasks that another program has. Then `reference` says how these are
    read again; only their reader knows what is in it.
    """

    def __init__(self, data: bytes, path: Path | None = None, name: str = "", reference: str = "") -> None:
        self.data = data
        self.path = path
        self.reference = reference
        self.name = name or (file_name(str(path)) if path else "standard input")

    @classmethod
    def of_file(cls, path: Path, name: str = "") -> TaskSource:
        """Raises UsageError for what cannot be read."""
        label = name or file_name(str(path))
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"`{label}` is not a file", "name a file or a directory with tasks, or `-`")
            if status.st_size > LARGEST:
                raise UsageError(f"`{label}` has more than {LARGEST:,} bytes", "split it")
            return cls(read_regular(path), path, label)
        except OSError as error:
            hint = "name a file or a directory with tasks, or `-` for standard input"
            raise UsageError(f"cannot read `{label}`: {error.strerror}", hint) from None

    @cached_property
    def exact_text(self) -> str:
        """The text with its byte order mark and its line ends, so that it can be written again."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise ConfigError([Problem("this is not UTF-8", self.name, line, "save it as UTF-8")]) from None

    @property
    def text(self) -> str:
        return self.exact_text.removeprefix(BYTE_ORDER_MARK)

    @cached_property
    def line_starts(self) -> list[int]:
        """Where each line of `exact_text` begins."""
        first = len(BYTE_ORDER_MARK) if self.exact_text.startswith(BYTE_ORDER_MARK) else 0
        return [first, *(match.end() for match in _LINE_END.finditer(self.exact_text))]

    def line_of(self, position: int) -> int:
        """The line of a position in `exact_text`, from 1."""
        return bisect_right(self.line_starts, position) or 1

    @cached_property
    def json(self) -> Any:
        """The values of a JSON text; ConfigError with the line if it is none."""
        text = self.text
        try:
            return decode_json(text.encode())
        except RecursionError:
            raise ConfigError([Problem("it is nested too deeply", self.name, 1)]) from None
        except msgspec.DecodeError as error:
            raise ConfigError([self.json_problem(text, str(error))]) from None

    @cached_property
    def json_root(self) -> JsonNode:
        """The values of a JSON text with their places in `exact_text`; ConfigError if it is none."""
        return self.json_at(self.line_starts[0])

    def json_at(self, start: int) -> JsonNode:
        """The same for the value that begins at a position."""
        try:
            return value_at(self.exact_text, start)
        except JsonSyntaxError as error:
            raise ConfigError([Problem(error.what, self.name, error.line)]) from None

    def json_problem(self, text: str, what: str, first_line: int = 1) -> Problem:
        """Where and why a text is not JSON."""
        import json  # deferred: only a broken file needs the place, which msgspec does not give

        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            at_end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
            why = (
                "the JSON ends too early; the file may be cut off" if at_end else f"this is not JSON: {error.msg}"
            )
            hint = "export it again, or fix this line"
            return Problem(why, self.name, first_line + text.rstrip().count("\n", 0, error.pos), hint)
        except (RecursionError, ValueError):
            pass
        return Problem(f"this cannot be read as JSON: {what}", self.name, first_line)

    @cached_property
    def outline(self) -> PrdOutline:
        """The outline of a Markdown text; ConfigError if it is too large or nested too deeply."""
        try:
            return read_outline(self.text)
        except OutlineLimit as limit:
            raise ConfigError(
                [Problem(limit.what, self.name, limit.line, "write it flatter, or split it")]
            ) from None

    @property
    def looks_like_json(self) -> bool:
        return _JSON_START.match(self.data) is not None

    def beside(self, *names: str) -> Path | None:
        """The first of these files that exists, relative to the directory of the source."""
        if self.path is None:
            return None
        paths = (self.path.parent / name for name in names)
        return next((path for path in paths if path.is_file()), None)

    def parts(self) -> tuple[str, ...]:
        """The names of its absolute path."""
        return Path(os.path.abspath(self.path)).parts if self.path else ()
