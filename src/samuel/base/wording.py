"""Counts, times and durations in words, and text that agents and checks wrote made safe to show."""

from __future__ import annotations

import time
from datetime import datetime

from samuel.base.printable import safe, without_control_sequences

LONGEST_TAIL = 8 * 1024
"""Characters of a check's output in a report."""
TAIL_LINES = 10

_DAY = 24 * 3600


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def span(seconds: float) -> str:
    """A duration that is over: `0.4s`, `12s`, `3m 05s`, `1h 02m`."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def elapsed(seconds: float) -> str:
    """A duration that goes on, in as many characters each second: `0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(seconds: float) -> str:
    """`2026-03-09 22:15`, in the time zone of this machine."""
    return f"{_local(seconds):%Y-%m-%d %H:%M}"


def moment_with_zone(seconds: float) -> str:
    """`2026-03-09 22:15 UTC`: for files that are read on another machine."""
    return f"{_local(seconds):%Y-%m-%d %H:%M %Z}"


def until(seconds: float) -> str:
    """The end of a wait. An agent may report any number."""
    try:
        return moment_with_zone(seconds)
    except (OverflowError, ValueError, OSError):
        return str(seconds)


def time_of_day(seconds: float) -> str:
    """`22:15`."""
    return f"{_local(seconds):%H:%M}"


def clock_time(at: float, now: float) -> str:
    """A time as a reader needs it now: with seconds if it is near, with the day if it is far."""
    try:
        there, here = time.localtime(at), time.localtime(now)
    except (OverflowError, ValueError, OSError):  # an agent may report any number
        return str(at)
    if abs(at - now) < 60:
        return time.strftime("%H:%M:%S", there)
    if there[:3] == here[:3]:
        return time.strftime("%H:%M", there)
    return time.strftime("%a %H:%M" if abs(at - now) < 6 * _DAY else "%Y-%m-%d %H:%M", there)


def first_line(text: str) -> str:
    return next(iter(text.splitlines()), "")


def tail(text: str, lines: int = TAIL_LINES, indent: str = "    ") -> list[str]:
    """The last lines of an output, indented, without empty ones at its ends."""
    return [f"{indent}{line}".rstrip() for line in text.rstrip().strip("\n").splitlines()[-lines:]]


def line(text: str, longest: int = 500) -> str:
    """The text on one line, without what a terminal or a browser might act on."""
    text = safe(" ".join(_plain(text[: 4 * longest]).split()), keep="")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def headline(text: str, longest: int = 500) -> str:
    """The first line of a text that says something, on one line."""
    return line(_split(text)[0], longest)


def details(text: str, longest: int = LONGEST_TAIL) -> str:
    """What comes after the first line of a text, with its lines as they are: a traceback, say; "" for nothing."""
    return block(_split(text)[1], longest)


def block(text: str, longest: int = LONGEST_TAIL) -> str:
    """The end of a text of several lines, without what a terminal or a browser might act on."""
    cut = text[-longest:] if len(text) > longest else text
    return ("…" if len(text) > longest else "") + safe(_plain(cut)).strip("\n")


def _split(text: str) -> tuple[str, str]:
    first, _, rest = _plain(text).strip("\n").partition("\n")
    return first, rest


def _plain(text: str) -> str:
    return without_control_sequences(text).replace("\r\n", "\n").replace("\r", "\n")


def _local(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds).astimezone()
