"""A Markdown file as an outline: which nodes there are, where they stand, and what contains what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samuel.tasks.commonmark import OutlineLimit
from samuel.tasks.outline import (
    OutlineBlock,
    OutlineHeading,
    OutlineItem,
    OutlineNode,
    OutlineTable,
    TableRow,
    read_outline,
)


def headings(text: str) -> list[tuple[int, str, int, int, int]]:
    nodes = [node for node in read_outline(text).nodes if isinstance(node, OutlineHeading)]
    return [(node.level, node.text, node.line, node.below, node.end) for node in nodes]


def items(text: str) -> list[OutlineItem]:
    return [node for node in read_outline(text).nodes if isinstance(node, OutlineItem)]


def blocks(text: str) -> list[tuple[str, int, int]]:
    nodes = [node for node in read_outline(text).nodes if isinstance(node, OutlineBlock)]
    return [(node.kind, node.line, node.end) for node in nodes]


def test_a_section_ends_before_the_next_heading_that_is_not_deeper() -> None:
    text = "# A\n## B\n### C\ntext\n## D ##\n\nE\nmore of E\n===\nlast"
    assert headings(text) == [
        (1, "A", 1, 2, 6),
        (2, "B", 2, 3, 4),
        (3, "C", 3, 4, 4),
        (2, "D", 5, 6, 6),
        (1, "E more of E", 7, 10, 10),
    ]


def test_a_heading_in_an_item_ends_with_the_item_and_ends_no_section() -> None:
    text = "## A\n- # B\n  text\n\nC\n"
    assert headings(text) == [(2, "A", 1, 2, 6), (1, "B", 2, 3, 3)]


def test_items_know_their_box_their_number_their_lines_and_the_item_around_them() -> None:
    text = "- [x] A\n  goes on\n\n  3. B\n     - [-] C\n\n- [] D\n- [link](to) E\n- [ ]\n\nF\n"
    assert [(item.box, item.text, item.number, item.line, item.end) for item in items(text)] == [
        ("x", "A", "", 1, 5),
        (None, "B", "3", 4, 5),
        ("-", "C", "", 5, 5),
        ("", "D", "", 7, 7),
        (None, "[link](to) E", "", 8, 8),
        (" ", "", "", 9, 9),
    ]
    assert [item.parent and item.parent.text for item in items(text)] == [None, "A", "B", None, None, None]


def test_an_item_that_begins_with_code_or_another_list_has_no_text() -> None:
    text = "- ```\n  code\n  ```\n- - inner\n-\n  below\n"
    assert [item.text for item in items(text)] == ["", "", "inner", ""]


def test_every_other_block_has_a_kind_and_its_lines() -> None:
    text = (
        "text\ngoes on\n\n```\ncode\n\n```\n\n    code\n\n<!-- a\n\n- [ ] b -->\n<div>\n- [ ] c\n</div>\n\n"
        "> - [ ] d\nlazy\n***\n- e\n\n      code in e\n"
    )
    assert blocks(text) == [
        ("paragraph", 1, 2),
        ("fence", 4, 7),
        ("indented code", 9, 9),
        ("comment", 11, 13),
        ("html", 14, 16),
        ("quote", 18, 19),
        ("rule", 20, 20),
        ("paragraph", 21, 21),
        ("indented code", 23, 23),
    ]
    assert read_outline(text).code_lines == {4, 5, 6, 7, 9, 23}
    assert read_outline(text).comment_lines == {11, 12, 13}


def test_a_table_has_rows_with_lines_and_cells() -> None:
    (item, _, table) = read_outline("- A\n\n  | a | b \\| c |\n  |---|:-:|\n  | 1 |\n  2 | 3 | 4\n").nodes
    assert isinstance(table, OutlineTable)
    assert table.rows == (TableRow(3, ("a", "b | c")), TableRow(5, ("1", "")), TableRow(6, ("2", "3")))
    assert (table.line, table.end, table.parent) == (3, 6, item)


def test_front_matter_is_no_heading_but_a_rule_at_the_top_is_a_rule() -> None:
    assert headings("---\ntitle: Tasks\n---\n# A\n") == [(1, "A", 4, 5, 5)]
    assert headings("---\n\n# A\n\n---\n# B\n") == [(1, "A", 3, 4, 5), (1, "B", 6, 7, 7)]
    assert headings("---\ntitle: A\n") == []


def test_lines_end_in_every_way_and_keep_their_numbers() -> None:
    outline = read_outline("# A\r\n\r# B\r\r\n\0\n\u2028\x0c")
    assert [(node.line, type(node)) for node in outline.nodes] == [
        (1, OutlineHeading),
        (3, OutlineHeading),
        (5, OutlineBlock),
    ]
    assert outline.lines == ("# A", "", "# B", "", "\N{REPLACEMENT CHARACTER}", "\u2028\x0c")


def test_an_unclosed_fence_or_comment_ends_with_what_is_around_it() -> None:
    assert blocks("- ```\n  code\n- <!--\n  no\n\ntext\n~~~\n# code\n") == [
        ("fence", 1, 2),
        ("comment", 3, 5),
        ("paragraph", 6, 6),
        ("fence", 7, 8),
    ]


def test_a_quote_ends_where_markdown_ends_it() -> None:
    assert blocks("> a\n> b\n\nc\n") == [("quote", 1, 2), ("paragraph", 4, 4)]
    assert blocks("> a\n# b\n") == [("quote", 1, 1)]
    assert blocks("> a\n---\n") == [("quote", 1, 1), ("rule", 2, 2)]
    assert blocks("a\n> b\n") == [("paragraph", 1, 1), ("quote", 2, 2)]
    assert blocks("    > a\n") == [("indented code", 1, 1)]
    assert blocks("- > a\n> b\n") == [("quote", 1, 1), ("quote", 2, 2)]


PIECES = st.sampled_from(
    [
        *("# a\n", "a\n===\n", "- b\n", "  - [ ] c\n", "1. d\n", "> e\n", "```\n", "<!--\n", "-->\n", "<div>\n"),
        *("| a | b |\n", "|---|---|\n", "\n", "\n\n", "    ", "  ", "\t", "---\n", "x: y\n", "\r", "\0", "text"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_nodes_stand_in_order_within_the_file_and_within_their_parents(text: str) -> None:
    outline = read_outline(text)
    starts = [node.line for node in outline.nodes]
    assert starts == sorted(starts)
    for node in outline.nodes:
        assert 1 <= node.line <= node.end <= len(outline.lines)
        parent = node.parent
        if parent:
            assert parent.line <= node.line
            assert _last_text(node, outline.lines) <= parent.end


def _last_text(node: OutlineNode, lines: tuple[str, ...]) -> int:
    return max((line for line in range(node.line, node.end + 1) if lines[line - 1].strip()), default=node.line)


@given(st.lists(st.sampled_from(["- ", "1. ", "> ", "  ", "\n", "a", "- [ ] "]), max_size=400).map("".join))
def test_deep_nesting_gives_an_outline_or_says_so(text: str) -> None:
    try:
        outline = read_outline(text)
    except OutlineLimit:
        return
    assert sum(isinstance(node, OutlineItem) for node in outline.nodes) <= len(text)
