"""The length of tests: `make test` runs the short forms; SAMUEL_TESTS=full, as in `make full`, the long ones.

The marks `sampled(every=n)` and `slow` are two more forms, for whole tests; tests/conftest.py reads them. What
`make test` leaves out for them, `make rest` (SAMUEL_TESTS=rest) runs, in the short forms.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

T = TypeVar("T")
FULL = os.environ.get("SAMUEL_TESTS") == "full"
REST = os.environ.get("SAMUEL_TESTS") == "rest"


def at_length(short: T, full: T) -> T:
    """A size that is not the point of the test: large enough in the short form, thorough in the long one."""
    return full if FULL else short


def sample(rows: Iterable[T], every: int) -> list[T]:
    """Rows of a table that all try the same mechanism: every n-th in the short form, all in the long one."""
    return list(rows)[:: at_length(every, 1)]


def combined(*columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each value of a column with each of the others; in the short form, each value at least once."""
    if FULL:
        return list(product(*columns))
    count = max(len(column) for column in columns)
    return [tuple(column[number % len(column)] for column in columns) for number in range(count)]
