"""Kinds of values that the rules of several shipped hooks have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samuel.config import kinds
from samuel.config.reader import ConfigTable

MAX_ENTRIES = 1000  # of one list


def entries(table: ConfigTable, key: str) -> Iterator[ConfigTable]:
    """The tables in the list at `key`."""
    for index, values in enumerate(table.take(key, _tables, [])):
        yield table.entry(key, index, values)


def expressions(value: object) -> tuple[str, ...]:
    """Regular expressions: one, or a list of them."""
    patterns = kinds.patterns(value)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"must be a regular expression; `{pattern[:80]}` is not: {error}") from None
    return patterns


def sentence(value: object) -> str:
    """A text as one line."""
    text = " ".join(kinds.text(value).split())
    if not text:
        raise ValueError("must not be empty")
    return text


def _tables(value: object) -> list[dict[str, object]]:
    items = kinds.array(value)
    if len(items) > MAX_ENTRIES:
        raise ValueError(f"must have at most {MAX_ENTRIES} entries, not {len(items)}")
    tables = [item for item in items if isinstance(item, dict)]
    if len(tables) < len(items):
        raise ValueError("must be a list of tables")
    return tables
