"""Tables and notes that all generated pages use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from samuel.base.errors import ConfigError

NOTE = "<!-- Written by docs/generate.py. Change the code, then run it again. -->\n"

MUST = "**required**"

UNKNOWN = "zzzzzz"
"""A key that no file has: the error of a reader that meets it lists the valid keys."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def keys_by_table(read: Callable[[], object]) -> dict[str, list[str]]:
    """The valid keys of each table of a file that has UNKNOWN in all of its tables, by the table's name."""
    try:
        read()
    except ConfigError as error:
        problems = error.problems
    keys = {}
    for problem in problems:
        if match := re.fullmatch(rf"unknown key `{UNKNOWN}`(?: in `(.+)`)?", problem.what):
            keys[match[1] or ""] = re.findall(r"`([^`]+)`", problem.hint)
    return keys


def keys_table(descriptions: Mapping[str, tuple[str, str, str]], valid_keys: Sequence[str]) -> str:
    """A table by key: its type, its default, what it is for. An error if the reader accepts other keys."""
    assert set(descriptions) == set(valid_keys), set(descriptions) ^ set(valid_keys)
    rows = [(f"`{key}`", *described) for key, described in descriptions.items()]
    return table(("key", "type", "default", "what it is"), rows)
