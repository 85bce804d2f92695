from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.config import load
from samuel.config.edit import Value, set_value, snippet

NOTIFY = ("hooks", "quality.check", "order", "notify")


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("", NOTIFY, 50, '[hooks."quality.check".order]\nnotify = 50\n'),
        ("", ["default_methodology"], "mine", 'default_methodology = "mine"\n'),
        (
            "# mine\na = 1   # one",
            NOTIFY,
            50,
            '# mine\na = 1   # one\n\n[hooks."quality.check".order]\nnotify = 50\n',
        ),
        (
            "# first\n[limits]\n# second\nb = 2\n",
            ["default_methodology"],
            "mine",
            '# first\ndefault_methodology = "mine"\n\n[limits]\n# second\nb = 2\n',
        ),
        (
            '[hooks."quality.check".order]\nnotify=1 # why\nother = 2\n\n# the end\n',
            NOTIFY,
            50,
            '[hooks."quality.check".order]\nnotify=50 # why\nother = 2\n\n# the end\n',
        ),
        (
            "[hooks.quality_check] # my way\nstrict = true\n",
            NOTIFY,
            50,
            "[hooks.quality_check] # my way\nstrict = true\n\n[hooks.quality_check.order]\nnotify = 50\n",
        ),
        (
            '[hooks."quality.check".order]\nsamuel-default = 1\n',
            ["hooks", "quality.check", "order", "default"],
            2,
            '[hooks."quality.check".order]\nsamuel-default = 2\n',
        ),
        (
            "hooks = { quality_check = { strict = true } } # inline\n",
            NOTIFY,
            50,
            "hooks = { quality_check = { strict = true, order = {notify = 50}} } # inline\n",
        ),
        (
            "[hooks.before_loop]\nhandlers = [\n  'a', # first\n]\n",
            ["hooks", "before:loop", "handlers"],
            ["a", {"use": "b", "strict": True}],
            '[hooks.before_loop]\nhandlers = ["a", {use = "b", strict = true}]\n',
        ),
        (
            "[[hooks.before_loop.handlers]] # first\nuse = 'a'\n",
            ["hooks", "before:loop", "strict"],
            True,
            "[hooks.before_loop]\nstrict = true\n[[hooks.before_loop.handlers]] # first\nuse = 'a'\n",
        ),
        # Tables out of order are legal, and hard on an editor.
        (
            "[hooks.quality_check]\nstrict = true\n[limits]\n[hooks.before_loop]\nstrict = true\n",
            ["hooks", "before:loop", "strict"],
            False,
            "[hooks.quality_check]\nstrict = true\n[limits]\n[hooks.before_loop]\nstrict = false\n",
        ),
    ],
)
def test_set_value_changes_one_value_and_keeps_the_rest_of_the_file(
    file: Path, before: str, path: list[str], value: Value, after: str
) -> None:
    if before:
        file.write_text(before)
    set_value(file, path, value)
    assert file.read_text() == after


def test_a_value_that_was_set_is_loaded(file: Path) -> None:
    set_value(file, NOTIFY, 50)
    set_value(file, ["hooks", "quality_check", "timeout"], "60s")
    settings = load(file).hooks["quality.check"]
    assert (settings.order, settings.timeout) == ({"notify": 50}, 60.0)


def test_set_value_leaves_no_temporary_files(file: Path) -> None:
    set_value(file, NOTIFY, 50)
    assert list(file.parent.iterdir()) == [file]


def test_set_value_does_not_touch_a_file_that_is_not_valid_toml(file: Path) -> None:
    file.write_text("a = \n")
    with pytest.raises(ConfigError) as caught:
        set_value(file, NOTIFY, 50)
    assert (
        str(caught.value)
        == f'{file}:1: not valid TOML: `a` has no value (write one after the `=`, like `a = "text"`)'
    )
    assert file.read_text() == "a = \n"


@pytest.mark.parametrize("text", ["hooks = 1\n", "[[hooks]]\n", "[hooks]\nquality_check = 'x'\n"])
def test_set_value_does_not_overwrite_a_value_with_a_table(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        set_value(file, ["hooks", "quality_check", "strict"], True)
    assert str(caught.value) == (
        f"{file}: `hooks.quality_check.strict` cannot be set without changing something else "
        "(edit the file by hand:\n[hooks.quality_check]\nstrict = true)"
    )
    assert file.read_text() == text


def test_a_change_that_cannot_be_verified_is_not_written(file: Path) -> None:
    file.write_text("[guardrails]\nx = nan\n")  # equal to nothing, itself included
    with pytest.raises(ConfigError) as caught:
        set_value(file, ["limits", "handler_output_bytes"], 1)
    assert str(caught.value) == (
        f"{file}: `limits.handler_output_bytes` cannot be set without changing something else "
        "(edit the file by hand:\n[limits]\nhandler_output_bytes = 1)"
    )
    assert file.read_text() == "[guardrails]\nx = nan\n"


def test_set_value_works_beside_an_unknown_event(file: Path) -> None:
    file.write_text("[hooks.later]\n")
    set_value(file, NOTIFY, 50)
    assert file.read_text() == '[hooks.later]\n\n[hooks."quality.check".order]\nnotify = 50\n'


def test_set_value_does_not_write_through_a_link(file: Path) -> None:
    target = file.parent / "target.toml"
    target.write_text("")
    file.symlink_to(target)
    with pytest.raises(ConfigError):
        set_value(file, NOTIFY, 50)
    assert target.read_text() == ""


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (NOTIFY, 50, '[hooks."quality.check".order]\n"notify" = 50'),
        (["hooks", "before:loop", "strict"], True, '[hooks."before:loop"]\nstrict = true'),
        (["default_methodology"], "mine", 'default_methodology = "mine"'),
        (
            ["hooks", "before:loop", "handlers"],
            ["a", {"use": "b", "timeout": "60s"}, "..."],
            '[hooks."before:loop"]\nhandlers = ["a", {use = "b", timeout = "60s"}, "..."]',
        ),
        (["guardrails", 'a "b"\\\n'], 1.5, '[guardrails]\n"a \\"b\\"\\\\\\u000A" = 1.5'),
    ],
)
def test_a_snippet_has_the_header_and_the_line_to_paste(path: list[str], value: Value, text: str) -> None:
    assert snippet(path, value) == text


# Tables that an editor may meet in any order and spelling, a comment on every line.
tables = st.permutations(
    [
        "[hooks] # 0\n",
        "[hooks.before_loop] # 1\nstrict = true # 2\n",
        '[hooks."quality.check".order] # 3\na = 1 # 4\n# 5\n\n',
        "[limits] # 6\n",
        "[[hooks.after_loop.handlers]] # 7\nuse = 'a' # 8\n",
        "[methodology.m.hooks.before_loop.order] # 9\n# 10\n",
    ]
)
places = st.sampled_from(
    [
        ("default_methodology",),
        ("limits", "handler_output_bytes"),
        *(
            (*outer, "hooks", event, *inner)
            for outer in [(), ("methodology", "m"), ("methodology", "n")]
            for event in ["before:loop", "quality.check", "after:loop", "TurnEnd"]
            for inner in [("strict",), ("order", "a"), ("order", "default")]
        ),
    ]
)


@given(tables, st.integers(0, 6), places, st.integers())
def test_set_value_keeps_every_comment_or_writes_nothing(
    existing: list[str], count: int, path: tuple[str, ...], value: int
) -> None:
    before = "".join(existing[:count])
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "samuel.toml"
        file.write_text(before)
        try:
            set_value(file, path, value)
        except ConfigError:
            assert file.read_text() == before
            return
        after = file.read_text()
        assert [line.partition("#")[2] for line in after.splitlines() if "#" in line] == [
            line.partition("#")[2] for line in before.splitlines() if "#" in line
        ]


keys = st.lists(st.text(max_size=5), min_size=1, max_size=4)
scalars = st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.text(max_size=9)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
)


@given(keys, values)
def test_a_snippet_parses_to_its_value(path: list[str], value: Value) -> None:
    parsed: object = tomllib.loads(snippet(path, value))
    for key in path:
        assert isinstance(parsed, dict)
        parsed = parsed[key]
    assert parsed == value


TEMPLATE_LIKE = """\
[methodology.ralph]
# The agent:
# agent = "claude"
commit = false

# [limits]
# handler_output_bytes = 1
"""


def test_a_key_that_stands_in_a_comment_of_its_table_takes_the_place_of_the_comment(file: Path) -> None:
    file.write_text(TEMPLATE_LIKE)
    set_value(file, ["methodology", "ralph", "agent"], "codex")
    assert file.read_text() == TEMPLATE_LIKE.replace('# agent = "claude"', 'agent = "codex"')


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (TEMPLATE_LIKE, ["methodology", "ralph", "handler_output_bytes"]),  # the comment is of another table
        (TEMPLATE_LIKE, ["limits", "handler_output_bytes"]),  # its header is a comment too
        (TEMPLATE_LIKE.replace("commit =", 'agent = "x"\ncommit ='), ["methodology", "ralph", "agent"]),
        ('x = """\n[session]\n# limit = 1\n"""\n', ["session", "limit"]),  # a string, not a comment
        ('[session]\nx = """\n# limit = 1\n"""\n', ["session", "limit"]),
    ],
)
def test_other_comments_stay_as_they_are(file: Path, text: str, path: list[str]) -> None:
    file.write_text(text)
    set_value(file, path, 5)
    changed = file.read_text()
    assert [line for line in changed.splitlines() if line.startswith("#")] == [
        line for line in text.splitlines() if line.startswith("#")
    ]
    table: Any = tomllib.loads(changed)
    for key in path:
        table = table[key]
    assert table == 5
