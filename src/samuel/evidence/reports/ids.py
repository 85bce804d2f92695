"""Test ids that mean the same test in another run, and those that do not."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

NEAR = timedelta(days=3)  # a date this close to the run is the time of the run
_PART_OF_ONE_RUN = re.compile(
    r"\bat 0x[0-9a-f]{4,16}"  # the address of an object
    r"|0x[0-9a-f]{9,16}\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"  # a UUID
    r"|\bpid[ =:#_-]{0,2}\d"
    r"|\b(?:localhost|127\.0\.0\.1|\[::1\]):\d{4,5}\b"  # a free port
    r"|/tmp/|/var/folders/|\bpytest-of-|\btmp[a-z0-9_]{8}\b"
    r"|\d:\d\d:\d\d\.\d{3}",  # a time with fractions
    re.IGNORECASE,
)
_HEX = re.compile(r"\b(?=[0-9a-f]{0,40}\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{16,64}\b", re.IGNORECASE)
_DATE = re.compile(r"(?<!\d)(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))(?!\d)")
_TIME = re.compile(r"(?<!\d)\d{1,2}:\d\d:\d\d(?!\d)")
_EPOCH = re.compile(r"(?<![\d.])1\d{9}(?:\d{3}){0,3}(?!\d)")
_NUMBER_ONLY = re.compile(r"#?\d*")
_LINE_NUMBER = re.compile(r" \(line \d{1,9}\)")
_DURATION = re.compile(r" \(\d{1,9}(?:\.\d{1,9})?m?s\)$")


def is_stable(id: str, now: datetime | None = None) -> bool:
    """Whether an id will name the same test in another run.

    Ids with an address, a process id, a random number, a temporary path, or a time that is close to `now` do not;
    nor does a number alone, which is a position. What is not stable is never evidence, so in doubt it is not.
    """
    if _NUMBER_ONLY.fullmatch(id.rpartition("::")[2].strip()) or _PART_OF_ONE_RUN.search(id) or _HEX.search(id):
        return False
    now = now or datetime.now(UTC)
    dates = list(_DATE.finditer(id))
    if any(_is_near(date, now) for date in dates) or any(
        _is_epoch(match[0], now) for match in _EPOCH.finditer(id)
    ):
        return False
    return bool(dates) or not _TIME.search(id)


def normalised(id: str, root: str = "") -> str:
    """An id without the directory of the run, the line of a doctest and a duration behind it."""
    if len(root) > 1:
        id = id.replace(root.rstrip("/") + "/", "")
    return _DURATION.sub("", _LINE_NUMBER.sub("", id.removeprefix("file://")))


def _is_near(date: re.Match[str], now: datetime) -> bool:
    groups = [int(group) if group else 0 for group in date.groups()]
    orders = [tuple(groups[:3])] if groups[0] else [(groups[5], *groups[3:5]), (groups[5], groups[4], groups[3])]
    for year, month, day in orders:
        try:
            if abs(datetime(year, month, day, tzinfo=UTC) - now) <= NEAR:
                return True
        except ValueError:  # not a date
            continue
    return False


def _is_epoch(digits: str, now: datetime) -> bool:
    """Whether a number is the time of the run, in seconds or in a part of them."""
    return abs(int(digits[:10]) - now.timestamp()) <= NEAR.total_seconds()
