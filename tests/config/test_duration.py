from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.config.duration import LONGEST, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("3ms", 0.003),
        ("30s", 30.0),
        ("5m", 300.0),
        ("1.5h", 5400.0),
        ("0s", 0.0),
        ("0.5ms", 0.0005),
        ("480h", LONGEST),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("bare", "suggestion"), [(60, "60s"), ("60", "60s"), (1.5, "1.5s"), ("1.5", "1.5s"), (0, "0s")]
)
def test_a_bare_number_is_refused_with_its_likely_unit(bare: object, suggestion: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_duration(bare)
    assert str(caught.value) == f'needs a unit, like "{suggestion}"'


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "s",
            "-1s",
            "-60",
            -60,
            "+1s",
            "1h30m",
            "60 s",
            " 60s",
            "60s\n",
            "60S",
            "1e3s",
            ".5s",
            "5.s",
            "٣s",
        ),
        *(True, float("nan"), float("inf"), ["60s"], None, datetime.time(0, 1)),
    ],
)
def test_a_value_that_is_not_a_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError) as caught:
        parse_duration(text)
    assert str(caught.value) == 'must be a number and a unit (ms, s, m or h), like "60s"'


@pytest.mark.parametrize("text", ["481h", "9" * 400 + "ms"])
def test_a_duration_longer_than_poll_can_wait_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_duration(text)
    assert str(caught.value) == 'must be at most "480h"'


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (0.0123456, "12.346ms"),
        (1.5, "1500ms"),
        (30, "30s"),
        (90, "90s"),
        (300, "5m"),
        (5400, "90m"),
        (7200, "2h"),
    ],
)
def test_a_duration_is_formatted_in_the_largest_unit_that_divides_it(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.floats(min_value=0, max_value=LONGEST))
def test_a_formatted_duration_parses_to_the_same_microsecond(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, abs=1e-6)
