"""TOML of other people: whatever is wrong with it is one kind of error."""

from __future__ import annotations

import pytest

from samuel.files.toml.lines import TomlTooDeep, toml_values


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "{a=" * 100_000, "a." * 10_000 + "a = 1"])
def test_a_toml_text_that_nests_too_deep_is_an_error_and_no_crash(text: str) -> None:
    with pytest.raises(TomlTooDeep, match=r"it nests deeper than 50 levels \(at line 2\)"):
        toml_values(f"\n{text}")


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", f"a = {'1' * 5000}"])
def test_a_toml_text_that_cannot_be_parsed_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        toml_values(text)


def test_a_toml_text_gives_its_values() -> None:
    assert toml_values("a = [[1]]\n[b]\nc = 'd'\n") == {"a": [[1]], "b": {"c": "d"}}
