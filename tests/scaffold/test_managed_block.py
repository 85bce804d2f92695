"""What a person wrote stays; the block is ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.scaffold.agents_md import BEGIN, END, with_block

PLAIN = st.text().filter(lambda text: "samuel:" not in text)


def test_at_the_end_of_a_file_that_has_none() -> None:
    assert with_block("# Mine\n", "ours", "A.md") == f"# Mine\n\n{BEGIN}\nours\n{END}\n"


def test_in_its_place() -> None:
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert with_block(text, "new", "A.md") == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


@given(PLAIN, PLAIN)
def test_twice_is_once(text: str, content: str) -> None:
    once = with_block(text, content, "A.md")
    assert with_block(once, content, "A.md") == once


@pytest.mark.parametrize(
    "text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}", f"{BEGIN}\n{END}\n{END}"]
)
def test_marks_that_do_not_match(text: str) -> None:
    with pytest.raises(ConfigError, match=r"A\.md:\d: the marks of the managed block do not match"):
        with_block(text, "x", "A.md")
