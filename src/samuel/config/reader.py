"""Reads a table key by key: it returns typed values, collects problems, and refuses keys that were never read.

A key is valid because some line of `project_file.py` takes it. There is no second list of valid keys to keep in
step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from samuel.base.errors import ConfigError, Problem
from samuel.base.nearest import SpellingHints
from samuel.base.printable import shorten
from samuel.config.kinds import type_name
from samuel.files.toml.lines import KeyLines, KeyPath, dotted

MAX_UNKNOWN_LISTED = 100
"""How many unknown keys of a table are reported one by one."""

Value = TypeVar("Value")
DefaultT = TypeVar("DefaultT")


class ProblemReport:
    """Collects the problems of a file, to report all of them at once."""

    def __init__(self, file: Path, lines: KeyLines) -> None:
        self._file = str(file)
        self._lines = lines
        self._problems: list[Problem] = []
        self._tables: list[ConfigTable] = []
        self._hints = SpellingHints()

    def read(self, values: dict[str, object], path: KeyPath = ()) -> ConfigTable:
        table = ConfigTable(self, values, path)
        self._tables.append(table)
        return table

    def add(self, path: KeyPath, what: str, hint: str = "") -> None:
        self._problems.append(Problem(what, self._file, self.line(path), hint))

    def add_unknown(self, path: KeyPath, what: str, valid_keys: Iterable[str]) -> None:
        """Add a key that is not in `valid_keys`, with the nearest of them as the hint."""
        listed = "known here: " + ", ".join(f"`{key}`" for key in valid_keys)
        self.add(path, what, self._hints.did_you_mean(str(path[-1]), valid_keys, listed))

    def line(self, path: KeyPath) -> int:
        return self._lines.of(path)

    def finish(self) -> None:
        """Raise ConfigError with all problems, in the order of the file. To be called after the last read."""
        for table in self._tables:
            table.refuse_unread()
        if self._problems:
            raise ConfigError(sorted(self._problems, key=lambda problem: problem.line))  # stable within a line


class ConfigTable:
    """One table of the file. Iterating over it reads every key, for tables whose keys the user chooses."""

    def __init__(self, report: ProblemReport, values: dict[str, object], path: KeyPath) -> None:
        self._report = report
        self._values = values
        self.path = path
        self._keys_read: dict[str, None] = {}  # a set, in the order in which the keys were read

    def __iter__(self) -> Iterator[str]:
        self._keys_read.update(dict.fromkeys(self._values))
        return iter(self._values)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def take(self, key: str, kind: Callable[[object], Value], default: DefaultT) -> Value | DefaultT:
        """The value of `key`; the default if it is absent or invalid. An invalid value is reported."""
        self._keys_read[key] = None
        if key not in self._values:
            return default
        try:
            return kind(self._values[key])
        except ValueError as error:
            self.refuse(key, f"`{shorten(key)}` {error}")
            return default

    def require(self, key: str, kind: Callable[[object], Value], default: DefaultT) -> Value | DefaultT:
        """The value of a required key of a YAML file. A missing key is reported."""
        if key not in self:
            self.refuse(key, f"`{key}` is missing", f"add `{key}: ...`")
        return self.take(key, kind, default)

    def table(self, key: str) -> ConfigTable:
        """The table at `key`; an empty one if it is absent or not a table, which is reported."""
        return self._report.read(self.take(key, table_values, {}), (*self.path, key))

    def entry(self, key: str, index: int, values: dict[str, object]) -> ConfigTable:
        """A table that is an item of the array at `key`."""
        return self._report.read(values, (*self.path, key, index))

    def refuse(self, key: str, what: str, hint: str = "") -> None:
        self._report.add((*self.path, key), what, hint)

    def line(self, key: str | None = None) -> int:
        """The line of `key`, or of the table itself."""
        return self._report.line(self.path if key is None else (*self.path, key))

    def refuse_unread(self) -> None:
        """Report the keys that were never read as unknown."""
        where = f" in `{dotted(self.path)}`" if self.path else ""
        unread = [key for key in self._values if key not in self._keys_read]
        for key in unread[:MAX_UNKNOWN_LISTED]:
            self._report.add_unknown((*self.path, key), f"unknown key `{shorten(key)}`{where}", self._keys_read)
        if len(unread) > MAX_UNKNOWN_LISTED:
            self.refuse(unread[MAX_UNKNOWN_LISTED], f"{len(unread) - MAX_UNKNOWN_LISTED} more unknown keys{where}")


def table_values(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, not {type_name(value)}")
    return value
