from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.files.toml.lines import DEEPEST, KeyPath, dotted, toml_lines, too_deep

TEXT = """\
# a comment with "quotes' and = and [
top = 1

[hooks."quality.check"]   # = not a key
strict = true
handlers = [ "a",   # ] not the end
  { use = "b" },
]
after = \"\"\"
not = "a key"
[not.a.table]
\\\"\"\" still inside \"\"\"
'lit # eral' = '''[x]
= 3'''
a . "b c" . d = { inline = [1,
  2] }

[ spaced . out ]
key=1
[[items]]
x = 1
[[items]]
x = 2
[items.sub]
y = 3
[[items.deep]]
z = 4
[[items]]
[items.sub]
y = 5
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("hooks",), 4),
        (("hooks", "quality.check"), 4),
        (("hooks", "quality.check", "strict"), 5),
        (("hooks", "quality.check", "handlers"), 6),
        (("hooks", "quality.check", "handlers", 1), 6),
        (("hooks", "quality.check", "handlers", 1, "use"), 6),
        (("hooks", "quality.check", "after"), 9),
        (("hooks", "quality.check", "lit # eral"), 13),
        (("hooks", "quality.check", "a"), 15),
        (("hooks", "quality.check", "a", "b c", "d"), 15),
        (("hooks", "quality.check", "a", "b c", "d", "inline"), 15),
        (("spaced", "out"), 18),
        (("spaced", "out", "key"), 19),
        (("items",), 20),
        (("items", 0), 20),
        (("items", 0, "x"), 21),
        (("items", 1), 22),
        (("items", 1, "x"), 23),
        (("items", 1, "sub", "y"), 25),
        (("items", 1, "deep", 0, "z"), 27),
        (("items", 2, "sub", "y"), 30),
        (("nowhere",), 0),
        ((), 0),
    ],
)
def test_lines_of_gives_the_line_of_a_key(path: KeyPath, line: int) -> None:
    tomllib.loads(TEXT)  # the test is worth nothing if the text is not TOML
    assert toml_lines(TEXT).of(path) == line


def test_lines_are_counted_in_a_file_with_windows_line_ends() -> None:
    assert toml_lines("[a]\r\n\r\nb = 1\r\n").of(("a", "b")) == 3


def test_escapes_in_a_key_are_resolved() -> None:
    assert toml_lines('\n"\\u0061\\"b" = 1').of(('a"b',)) == 2


@pytest.mark.parametrize("end", ['"""', '""""', '"""""'])
def test_a_multi_line_string_may_end_in_quotes(end: str) -> None:
    assert toml_lines(f'a = """x\n{end}\nb = 1').of(("b",)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * (DEEPEST + 1),
        "x = " + "{ a = " * (DEEPEST + 1),
        "a." * DEEPEST + "a = 1",
        "[" + '"a" . ' * DEEPEST + "a]",
        "x = { " + "'a'." * DEEPEST + "a = 1 }",
    ],
)
def test_a_text_that_nests_too_deep_is_recognised(text: str) -> None:
    assert too_deep(f"# first\n{text}") == 2


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * DEEPEST + "]" * DEEPEST,
        "a." * (DEEPEST - 1) + "a = 1",
        "x = '" + "[" * 1000 + "'",
        "# " + "a." * 1000,
        'x = """\n' + "[" * 1000 + '"""',
        "[a]\n" * 1000,
    ],
)
def test_a_text_that_nests_just_deep_enough_is_accepted(text: str) -> None:
    assert too_deep(text) is None


keys = st.text(min_size=1, max_size=4)
scalars = st.sampled_from(["1", "true", '"""\nx = [\n"""', "'#'", "[\n1, # ]\n2]", "{ k = 1 }", "'''\n'''"])


@given(st.lists(st.tuples(keys, keys, scalars), unique_by=lambda entry: entry[:2]), st.data())
def test_the_line_of_every_key_is_found(entries: list[tuple[str, str, str]], data: st.DataObject) -> None:
    text, line = "", 1
    expected: dict[KeyPath, int] = {}
    for outer, inner, value in entries:
        statement = "\n" * data.draw(st.integers(0, 2)) + f"{dotted((outer, inner))} = {value}"
        expected[(outer, inner)] = line + len(statement) - len(statement.lstrip("\n"))
        line += statement.count("\n") + 1
        text += f"{statement} # [\n"
    tomllib.loads(text)
    lines = toml_lines(text)
    assert {path: lines.of(path) for path in expected} == expected
