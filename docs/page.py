"""What the pages that are written by a program have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from samuel.errors import ConfigError

NOTE = "<!-- Written by docs/generate.py. Change the code, then run it again. -->\n"

MUST = "**must be there**"

UNKNOWN = "zzzzzz"
"""A key that no file has: a reader that meets it names those that it knows."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def known_keys(read: Callable[[], object]) -> dict[str, list[str]]:
    """The keys of each table of a file that holds UNKNOWN in all of them, by the table's name."""
    try:
        read()
    except ConfigError as error:
        problems = error.problems
    found = {}
    for problem in problems:
        if told := re.fullmatch(rf"unknown key `{UNKNOWN}`(?: in `(.+)`)?", problem.what):
            found[told[1] or ""] = re.findall(r"`([^`]+)`", problem.hint)
    return found


def keys_table(said: Mapping[str, tuple[str, str, str]], known: Sequence[str]) -> str:
    """By key: its type, what it is when it is left out, what it is for. An error if the reader knows others."""
    assert set(said) == set(known), set(said) ^ set(known)
    return table(("key", "type", "if left out", "what it is"), [(f"`{key}`", *said[key]) for key in said])
