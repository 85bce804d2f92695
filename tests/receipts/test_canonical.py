"""Canonical JSON: one value has one text."""

from __future__ import annotations

import pytest

from samuel.receipts.canonical import canonical, digest_of

# The sorting and the escapes are those of the examples in RFC 8785.
EXAMPLES = [
    ({"b": 1, "a": [True, None, "x"]}, b'{"a":[true,null,"x"],"b":1}'),
    ({"text": 'a"b\\c\n\x0f\u20ac\x7f/'}, '{"text":"a\\"b\\\\c\\n\\u000f\u20ac\x7f/"}'.encode()),
    ({"": {}, "B": [], "a": -1}, b'{"":{},"B":[],"a":-1}'),
]


@pytest.mark.parametrize(("value", "text"), EXAMPLES)
def test_value_has_one_text(value: object, text: bytes) -> None:
    assert canonical(value) == text


def test_order_of_keys_does_not_change_the_digest() -> None:
    assert digest_of({"a": 1, "b": {"c": 2, "d": 3}}) == digest_of({"b": {"d": 3, "c": 2}, "a": 1})


@pytest.mark.parametrize("value", [1.5, {"a": [0.1]}, 1 << 53, {"ä": 1}, {1: 2}])
def test_value_whose_text_differs_between_languages_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"is (not|too)"):
        canonical(value)
