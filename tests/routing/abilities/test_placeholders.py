"""`{name}` in arguments and prompts."""

from __future__ import annotations

import pytest

from samuel.base.errors import SamuelError
from samuel.routing.abilities.placeholders import fill, names


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
def test_placeholders_are_replaced_by_values(text, values, expected):
    assert fill(text, values) == expected


def test_a_placeholder_without_a_value_is_refused():
    with pytest.raises(SamuelError, match="the input has no `suite`"):
        fill("{suite}", {"other": 1})


def test_the_names_of_placeholders_are_listed_once():
    assert names("{b} {a} {b} {0}") == ["b", "a"]
