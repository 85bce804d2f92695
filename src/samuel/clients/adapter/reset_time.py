"""When a usage limit ends, as services and their clients tell it: a number, a duration, or a time of day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from samuel.clients.adapter.counts import table

_MILLISECONDS = 1e11  # as seconds this is in the year 5138
_LATEST = 366 * 24 * 3600.0  # what is further away than this is not a reset

_MOMENTS = ("resetsAt", "resets_at", "reset_at", "resetAt")
_DELAYS = (
    *("resets_in_seconds", "resetsInSeconds"),
    *("retry_after", "retryAfter", "retry_after_seconds", "retryDelay"),
)

_EPOCH = re.compile(r"\|\s*(\d{10,13})\b")
_PERIOD = r"(?:\d+(?:\.\d+)?\s*(?:ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b[\s,]*)+"
_DELAY = re.compile(rf"\b(?:again|retry|retrying|resets?)\s+(?:in|after)\s+(?P<period>{_PERIOD})", re.IGNORECASE)
_RESET_AFTER = re.compile(r"\breset after (?P<period>(?:\d+[dhms])+)", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = re.compile(
    r"\b(?:resets?(?:\s+at)?|again\s+at|reset\s+at)\s+"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?(?:\s+(?P<year>\d{{4}}),?)?"
    r"(?:\s+at)?\s+)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)?\b(?:\s*\((?P<zone>[A-Za-z_]+(?:/[A-Za-z_+-]+)*)\))?",
    re.IGNORECASE,
)


def reset_time(text: str, details: object, now: float) -> float | None:
    """When the limit ends, in seconds since the epoch; None if neither `details` nor `text` tells it.

    `details` is an object that came with the text. A time of day without a zone is one of this machine.
    """
    moments = (*_in_details(details, now), *_in_text(text, now))
    return next((moment for moment in moments if 0 < moment < now + _LATEST), None)


def as_seconds(value: object) -> float:
    """A moment that is given in seconds or in milliseconds; 0 if it is none."""
    if isinstance(value, str):
        value = _from_text(value)
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        return 0.0
    return value / 1000 if value > _MILLISECONDS else float(value)


def _from_text(value: str) -> float:
    if value.isdecimal():
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _in_details(details: object, now: float) -> Iterator[float]:
    for fields in _nested(details):
        for name in _MOMENTS:
            if moment := as_seconds(fields.get(name)):
                yield moment
        for name in _DELAYS:
            if delay := _delay(fields.get(name)):
                yield now + delay


def _nested(details: object, depth: int = 4) -> Iterator[dict[str, Any]]:
    if isinstance(details, list) and depth:
        for item in details[:20]:
            yield from _nested(item, depth - 1)
    if isinstance(details, dict) and depth:
        yield table(details)
        for name in ("error", "details", "data", "rate_limit_info"):
            yield from _nested(details.get(name), depth - 1)


def _delay(value: object) -> float:
    if isinstance(value, str):
        return _period(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0.0


def _in_text(text: str, now: float) -> Iterator[float]:
    if epoch := _EPOCH.search(text):
        yield as_seconds(int(epoch[1]))
    for pattern in (_DELAY, _RESET_AFTER):
        if (delay := pattern.search(text)) and (seconds := _period(delay["period"])):
            yield now + seconds
    for clock in _CLOCK.finditer(text):
        if moment := _moment(clock, now):
            yield moment


def _period(text: str) -> float:
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text.lower()))


def _moment(clock: re.Match[str], now: float) -> float:
    """The next moment at which a clock in the zone shows this."""
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if not half and clock["minute"] is None:
        return 0.0  # `resets 5` may be anything
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    here = datetime.fromtimestamp(now, UTC).astimezone(_zone(clock["zone"]))
    try:
        moment = here.replace(hour=hour, minute=int(clock["minute"] or 0), second=0, microsecond=0)
        if clock["month"]:
            month = _MONTHS.index(clock["month"].lower()) + 1
            moment = moment.replace(year=int(clock["year"] or here.year), month=month, day=int(clock["day"]))
            if not clock["year"] and moment < here - timedelta(days=180):
                moment = moment.replace(year=here.year + 1)
        elif moment <= here:
            moment += timedelta(days=1)
    except ValueError:  # 31 February, 25:00
        return 0.0
    return moment.timestamp()


def _zone(name: str | None) -> tzinfo | None:
    """The zone of this name; None, which is the machine's own, if there is none."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
