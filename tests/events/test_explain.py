"""What is said about a value of a wrong shape: whole texts, because the text is the product."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest

from samuel.events.explain import explained


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    level: Literal["low", "high"] = "low"
    size: int | None = None


class Outer(msgspec.Struct):
    items: list[Inner] = []
    flags: dict[str, bool] = {}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "it must be an object, not an array"),
        ({"items": 1}, "`items` must be an array, not an integer"),
        ({"items": [{"id": 1}]}, "`items[0].id` must be a string, not an integer"),
        ({"items": [{"id": "a", "size": "x"}]}, "`items[0].size` must be an integer or null, not a string"),
        ({"items": [{}]}, "`items[0].id` is missing"),
        ({"items": [{"id": "a", "name": 1}]}, "`items[0].name` is not a known field"),
        ({"items": [{"id": "a", "level": "top"}]}, "`items[0].level` must be one of `low`, `high`, not `top`"),
        ({"flags": {"a": 1}}, "`flags[...]` must be true or false, not an integer"),
    ],
)
def test_a_wrong_value_is_explained_with_its_place_and_what_is_right(value: Any, message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Outer)
    assert explained(caught.value, Outer) == message


def test_an_error_of_another_kind_keeps_its_message() -> None:
    assert explained(ValueError("no JSON")) == "no JSON"
