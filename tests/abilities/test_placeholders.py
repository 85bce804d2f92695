"""`{name}` in arguments and prompts."""

from __future__ import annotations

import pytest

from samuel.abilities.placeholders import fill, names
from samuel.errors import SamuelError


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("plain", {}, "plain"),
        ("--suite={suite}", {"suite": "full"}, "--suite=full"),
        ("{a}{b}", {"a": 1, "b": True}, "1true"),
        ("{a}", {"a": ["x", {"y": None}]}, '["x",{"y":null}]'),
        ("{a}", {"a": "{b} $(rm) `x`", "b": "never"}, "{b} $(rm) `x`"),
        ('{"a": 1} {} {0} {a b}', {}, '{"a": 1} {} {0} {a b}'),
    ],
)
def test_values(text, values, expected):
    assert fill(text, values) == expected


def test_a_name_that_the_input_lacks():
    with pytest.raises(SamuelError, match="the input has no `suite`"):
        fill("{suite}", {"other": 1})


def test_names():
    assert names("{b} {a} {b} {0}") == ["b", "a"]
