"""The files of a journal, in the order in which they were begun.

They are numbered, not sorted by time: a clock that was set back must not put new records before old ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

_LAST_NUMBER = 99_999_999


def oldest_first(directory: int | str) -> list[str]:
    """The names of all segments. A name without a number, which Samuel did not write, counts as old."""
    return sorted((name for name in os.listdir(directory) if name.endswith(".jsonl")), key=_sort_key)


def next_name(existing: Iterable[str], time: str) -> str:
    """A name for a new segment, which sorts after all others. The time in it is only for people."""
    number = min(max((_number(name) for name in existing), default=0) + 1, _LAST_NUMBER)
    return f"{number:08d}-{time.replace(':', '')}-{os.getpid()}-{os.urandom(3).hex()}.jsonl"


def _sort_key(name: str) -> tuple[int, str]:
    return _number(name), name


def _number(name: str) -> int:
    number, dash = name[:8], name[8:9]
    return int(number) if dash == "-" and number.isdecimal() else 0
