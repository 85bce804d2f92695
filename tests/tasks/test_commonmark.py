"""Hostile Markdown: it takes time and memory in proportion to its length, and what is too much is refused."""

from __future__ import annotations

import pytest
from tests.length import at_length

from samuel.base.errors import ConfigError, SamuelError
from samuel.tasks import commonmark
from samuel.tasks.commonmark import MAX_LIST_DEPTH, OutlineLimit
from samuel.tasks.formats.markdown import Markdown
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.task import Task

SIZE = at_length(50_000, 300_000)  # a step for each pair of characters would take minutes or hours
TASK = "## Tasks\n- [ ] 1 "


def parse(text: str) -> tuple[Task, ...]:
    return Markdown().read(TaskSource(text.encode(), name="prd.md")).tasks


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a" * SIZE,
            " " * SIZE + "a",
            "\t" * SIZE + "a",
            "-" * SIZE,
            "`" * SIZE,
            "[" * SIZE,
            "1" * SIZE,
            "\0" * SIZE,
        ),
        *("\r" * SIZE, "* " * SIZE, "1. " * SIZE, "> - " * SIZE, ">" * SIZE, ("> " * 100 + "a\n") * (SIZE // 200)),
        *(
            "## a" + " " * SIZE + "b",
            "# " * SIZE + "b",
            "<a" + " b" * SIZE,
            "<a b='" * SIZE,
            "<!--\n" * (SIZE // 5),
        ),
        *("~~~~\n" + "~~~\n" * (SIZE // 4), "- a" + "\n" * SIZE, "- " * 31 + "a" + "\n" * (SIZE // 31)),
        *(
            TASK + "a" + " " * SIZE + "b",
            TASK + "[" * SIZE,
            TASK + "[1 tokens - " * (SIZE // 12),
            TASK + "(" * SIZE,
        ),
        *(TASK + "( (a) " * (SIZE // 6), TASK + "(" + "(a)" * (SIZE // 6), TASK + "**a " * (SIZE // 4)),
        *(TASK + "(1" + " " * SIZE, TASK + "[1 tokens -" + " " * SIZE + "x", TASK + "1." * SIZE),
        *(
            TASK + "a\n  Files: a" + " " * SIZE + "b",
            TASK + "a\n  " + " " * SIZE + ":",
            TASK + "a\n  " + "*" * SIZE,
        ),
        *(TASK + "a\n\n  Depends on: " + "and " * (SIZE // 4), TASK + "a\n" + "\t" * SIZE + "b"),
        *(TASK + "a\n" + "Files: a\n" * (SIZE // 9), TASK + "a\n" + "      - [ ] b\n" * (SIZE // 14)),
        *("- [ ]" + " " * SIZE + "a", "x|y\n-|-\n" + "\\|" * SIZE, "---\na: b\n" * (SIZE // 9)),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_no_text_takes_more_than_linear_time_or_ends_in_a_traceback(text: str) -> None:
    try:
        parse(text)
    except SamuelError:
        pass


@pytest.mark.slow
def test_a_line_of_ten_megabytes_is_a_title_like_any_other() -> None:
    (task,) = parse(TASK + "a b " * 2_500_000)
    assert len(task.title) == 10_000_000 - 1


def test_lists_may_be_nested_to_the_limit_and_what_is_deeper_is_an_error_with_its_line() -> None:
    lines = ["  " * depth + f"- [ ] {depth + 1} Task\n" for depth in range(MAX_LIST_DEPTH + 1)]
    tasks = parse("".join(lines[:-1]))
    assert [task.parent_id for task in tasks] == ["", *(task.id for task in tasks[:-1])]
    with pytest.raises(ConfigError) as caught:
        parse("".join(lines))
    assert str(caught.value) == (
        f"prd.md:{MAX_LIST_DEPTH + 1}: lists are nested more than {MAX_LIST_DEPTH} levels deep"
        " (write it flatter, or split it)"
    )


def test_a_quote_of_any_depth_hides_nothing_that_follows() -> None:
    tasks = parse("> " * 1000 + "a\n\n- [ ] 1 One\n")
    assert [task.id for task in tasks] == ["1"]


@pytest.mark.parametrize("text", ["#\n" * 100, "|a" * 100 + "\n" + "|-" * 100, "- a\n" * 100, "a\n\n" * 100])
def test_more_elements_than_the_limit_are_refused(text: str) -> None:
    assert len(commonmark.tokens(text)) > 150
    with pytest.raises(OutlineLimit, match="more than 150 Markdown elements") as caught:
        commonmark.tokens(text, limit=150)
    assert 1 <= caught.value.line <= 100
