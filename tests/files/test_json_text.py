"""The JSON scanner: where each value stands in a text, with comments and trailing commas or without."""

from __future__ import annotations

import pytest

from samuel.files.json_text import DEEPEST, JsonSyntaxError, parse, value_at

TEXT = """\
{
  // of the user
  "list": [1, {"key": "a"}, ],
  "text": "b"
}
"""


def test_a_value_is_found_by_its_path_and_knows_its_place() -> None:
    root = parse(TEXT).root
    node = root.at(("list", 1, "key"))
    assert node is not None
    assert (TEXT[node.start : node.end], node.value, node.kind) == ('"a"', "a", "scalar")
    assert root.value == {"list": [1, {"key": "a"}], "text": "b"}


@pytest.mark.parametrize("path", [("missing",), ("list", 7), ("text", "key"), (0,), ("list", "key")])
def test_a_path_that_leads_nowhere_has_no_value(path: tuple[str | int, ...]) -> None:
    assert parse(TEXT).root.at(path) is None


def test_the_first_comment_and_the_first_trailing_comma_have_their_lines() -> None:
    parsed = parse(TEXT)
    assert (parsed.comment_line, parsed.comma_line) == (2, 3)


def test_a_repeated_key_is_refused_in_a_whole_text_and_the_last_one_counts_elsewhere() -> None:
    text = '{"a": 1,\n "a": 2}'
    with pytest.raises(JsonSyntaxError, match="the key `a` is there twice") as refused:
        parse(text)
    assert refused.value.line == 2
    node = value_at(text, 0).at(("a",))
    assert node is not None
    assert (node.value, node.start) == (2, text.index("2"))


def test_a_value_in_the_middle_of_a_text_is_read_whatever_follows_it() -> None:
    text = '{"a": 1}\n{"b": [2]}\nand more'
    assert value_at(text, 9).value == {"b": [2]}


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("", "the file is empty", 1),
        ("{} {}", "there is more text after the end", 1),
        ('{"a"\n 1}', "expected `:`, not `1`", 2),
        ("[1\n2]", "expected `,` or `]`, not `2`", 2),
        ("[1, /* x", "a comment does not end", 1),
        ("[" * (DEEPEST + 1), f"nests deeper than {DEEPEST} levels", 1),
    ],
)
def test_what_is_not_json_is_refused_with_its_line(text: str, what: str, line: int) -> None:
    with pytest.raises(JsonSyntaxError) as refused:
        parse(text)
    assert (refused.value.what, refused.value.line) == (what, line)
