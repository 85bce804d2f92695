"""Front matter as people write it, and as an attacker writes it to hurt its reader."""

from __future__ import annotations

import pytest

from samuel.base.errors import ConfigError, Problem
from samuel.files.frontmatter import LARGEST, LARGEST_HEAD, parse
from samuel.files.yaml import DEEPEST

WHOLE = """\
---
name: review
count: 3
share: 1.5
small: 1e-3
on: no
since: 2024-01-01
at: 1:30
version: 1.10.2
octal: 010
empty:
nothing: ~
yes: true
quoted: "true"
list: [a, {b: c}]
text: |
  one
  two
---
# Body

---
more
"""


def refusal(text: str | bytes) -> Problem:
    with pytest.raises(ConfigError) as caught:
        parse(text if isinstance(text, bytes) else text.encode(), "x.md")
    (problem,) = caught.value.problems
    assert problem.file == "x.md"
    return problem


def test_values_are_plain_and_words_stay_words() -> None:
    document = parse(WHOLE.encode(), "x.md")
    assert document.head == {
        "name": "review",
        "count": 3,
        "share": 1.5,
        "small": 0.001,
        "on": "no",
        "since": "2024-01-01",
        "at": "1:30",
        "version": "1.10.2",
        "octal": 10,
        "empty": None,
        "nothing": None,
        "yes": True,
        "quoted": "true",
        "list": ["a", {"b": "c"}],
        "text": "one\ntwo\n",
    }
    assert document.body == "# Body\n\n---\nmore\n"
    assert (document.lines["name"], document.lines["text"]) == (2, 16)
    assert WHOLE.split("\n")[document.body_line - 1] == "# Body"


@pytest.mark.parametrize("text", ["", "# Title\n", "text\n---\nname: x\n---\n", "----\nname: x\n"])
def test_without_front_matter_all_of_it_is_the_body(text: str) -> None:
    assert parse(text.encode(), "x.md") == ({}, {}, text, 1, None)


def test_front_matter_may_have_windows_line_ends_and_a_byte_order_mark() -> None:
    document = parse(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nbody\r\n", "x.md")
    assert (document.head, document.body) == ({"name": "x"}, "body\r\n")


@pytest.mark.parametrize("head", ["", "# only a comment\n"])
def test_empty_front_matter_is_an_empty_mapping(head: str) -> None:
    assert parse(f"---\n{head}---\nbody".encode(), "x.md").head == {}


BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("head", "line", "says"),
    [
        (BOMB, 2, "anchors and aliases"),
        ("a: x\nb: *a\n", 3, "anchors and aliases"),
        ("&key name: x\n", 2, "anchors and aliases"),
        ("list:\n- &x 1\n", 3, "anchors and aliases"),
        ("a: !!python/object/apply:os.system [true]\n", 2, "tag"),
        ("a: !!binary aGk=\n", 2, "tag"),
        ("a: !own x\n", 2, "tag"),
        ("a: 1\nb: 2\na: 3\n", 4, "`a` is given twice"),
        ("a:\n  b: 1\n  b: 2\n", 4, "`b` is given twice"),
        ("a: 1\n...\nb: 2\n", 4, "document"),
        ("- a\n- b\n", 2, "not a mapping"),
        ("just text\n", 2, "not a mapping"),
        ("a: 1\n\tb: 2\n", 3, "a tab where YAML wants spaces"),
        ("a: [1, 2\n", 2, "not valid YAML"),
        ("a: b: c\n", 2, "not valid YAML"),
        ("? [a]\n: b\n", 2, "a key must be text"),
        (f"a: {'[' * (DEEPEST + 1)}{']' * (DEEPEST + 1)}\n", 2, "nests deeper"),
        (f"a: {'[' * 5000}\n", 2, "nests deeper"),
        (f"a: {'9' * 5000}\n", 2, "64 bits"),
        ("a: 99999999999999999999\n", 2, "64 bits"),
        ("a: 1e999\n", 2, "finite"),
        ("a: \x07\n", 2, "U+0007"),
        (f"a: {'x' * LARGEST_HEAD}\n", 1, "longer than"),
    ],
)
def test_what_is_not_plain_is_refused_with_its_line(head: str, line: int, says: str) -> None:
    problem = refusal(f"---\n{head}---\nbody\n")
    assert says in problem.what
    assert problem.line == line


def test_front_matter_that_is_not_closed_is_refused() -> None:
    assert refusal("---\nname: x\n\n# Body\n") == Problem(
        "the front matter is not closed", "x.md", 1, "end it with a line `---`"
    )


def test_two_megabytes_are_refused() -> None:
    assert "larger than" in refusal(b"x" * (2 * LARGEST)).what
    assert len(parse(b"x" * LARGEST, "x.md").body) == LARGEST


def test_front_matter_that_is_not_utf8_is_refused() -> None:
    assert refusal(b"---\nname: x\n---\n\xff\n") == Problem("it is not UTF-8", "x.md", 4, "save it as UTF-8")
