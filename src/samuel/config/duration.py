"""Durations as text: a number and a unit, like `250ms`, `30s`, `5m` or `1.5h`."""

from __future__ import annotations

import re

_MILLISECONDS = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_DURATION = rf"({_NUMBER})(ms|s|m|h)"

# poll(2) counts milliseconds in a C int, which holds less than 25 days: a longer timeout would overflow.
LONGEST = 480 * 3600.0


def parse_duration(text: object) -> float:
    """The seconds that `text` stands for; ValueError completes a sentence: "`timeout` " + str(error).

    A bare number is refused, because its unit is not clear: in the files of other tools it is milliseconds.
    """
    bare = _bare_number(text)
    if bare is not None:
        raise ValueError(f'needs a unit, like "{bare}s"')
    match = re.fullmatch(_DURATION, text) if isinstance(text, str) else None
    if match is None:
        raise ValueError('must be a number and a unit (ms, s, m or h), like "60s"')
    seconds = float(match[1]) * _MILLISECONDS[match[2]] / 1000
    if seconds > LONGEST:
        raise ValueError(f'must be at most "{format_duration(LONGEST)}"')
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest exact text, to the microsecond: 300 is `5m`, 90 is `90s`, 0.25 is `250ms`."""
    milliseconds = round(seconds * 1000, 3)
    if not milliseconds:
        return "0s"
    for unit, size in _MILLISECONDS.items():
        if milliseconds % size == 0:
            return f"{milliseconds / size:.0f}{unit}"
    return f"{milliseconds:.3f}".rstrip("0") + "ms"


def _bare_number(value: object) -> str | None:
    if isinstance(value, bool):  # a bool is an int in Python
        return None
    text = str(value) if isinstance(value, (str, int, float)) else ""
    return text if re.fullmatch(_NUMBER, text) else None
