"""The kinds of values that the rules have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samuel.config import kinds
from samuel.config.reader import ConfigTable

MOST = 1000  # entries of one list


def entries(table: ConfigTable, key: str) -> Iterator[ConfigTable]:
    """The tables in the list at `key`."""
    listed = table.take(key, _tables, [])
    for at, values in enumerate(listed):
        yield table.entry(key, at, values)


def expressions(value: object) -> tuple[str, ...]:
    """Regular expressions, one or a list of them."""
    found = kinds.patterns(value)
    for one in found:
        try:
            re.compile(one)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"must be a regular expression, and `{one[:80]}` is none: {error}") from None
    return found


def sentence(value: object) -> str:
    """A text as one line."""
    found = " ".join(kinds.text(value).split())
    if not found:
        raise ValueError("must not be empty")
    return found


def _tables(value: object) -> list[dict[str, object]]:
    listed = kinds.array(value)
    if len(listed) > MOST:
        raise ValueError(f"must have at most {MOST} entries, not {len(listed)}")
    found = [one for one in listed if isinstance(one, dict)]
    if len(found) < len(listed):
        raise ValueError("must be a list of tables")
    return found
