"""The kinds of values that the rules have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from samuel.config import kinds
from samuel.config.reader import Table

MOST = 1000  # entries of one list

Value = TypeVar("Value")
Default = TypeVar("Default")


def entries(table: Table, key: str) -> Iterator[Table]:
    """The tables in the list at `key`."""
    listed = table.take(key, _tables, [])
    for at, values in enumerate(listed):
        yield table.entry(key, at, values)


def required(table: Table, key: str, kind: Callable[[object], Value], default: Default) -> Value | Default:
    if key not in table:
        table.refuse(key, f"`{key}` is missing", f"add `{key}: ...`")
    return table.take(key, kind, default)


def patterns(value: object) -> tuple[str, ...]:
    """One text or a list of them."""
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, str) and item.strip() and item.isprintable() for item in items):
        raise ValueError("must be a string that is not empty, or a list of them")
    return tuple(str(item) for item in items)


def expressions(value: object) -> tuple[str, ...]:
    """Regular expressions, one or a list of them."""
    found = patterns(value)
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
