"""Adding and removing Samuel's entries restores any file of a client byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.clients.entries.hook_command import ON_PATH, EmitCommand
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import EntryFormat
from samuel.clients.table import CLIENTS, LAYOUTS
from samuel.files.json_text import parse

ELSEWHERE = EmitCommand(('/home/a "b" $c/samuel-emit',))
SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\n\t", "\r\n    ", "  \n\n "])
COMMENTS = st.sampled_from(["", "", " // a, b\n", "/* { \n */", " // ]\r\n", "/**/", " /* x */\n"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text('a"\\/*, {[é\n', max_size=4))


@st.composite
def spaced(draw: st.DrawFn, comments: bool) -> str:
    return draw(SPACES) + (draw(COMMENTS) if comments else "") + draw(SPACES)


@st.composite
def text_of(draw: st.DrawFn, value: object, comments: bool) -> str:
    """The value as a person may have typed it."""
    space = spaced(comments)
    if isinstance(value, dict | list):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        parts = []
        for item in value.items() if isinstance(value, dict) else value:
            if isinstance(value, dict):
                key, item = item
                label = f"{json.dumps(key)}{draw(space)}:{draw(space)}"
            else:
                label = ""
            parts.append(draw(space) + label + draw(text_of(item, comments)) + draw(space))
        return opening + (",".join(parts) if parts else draw(space)) + closing
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


OTHERS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner)
)


@st.composite
def settings_of(draw: st.DrawFn, client: str, key: str, comments: bool) -> str:
    """A file with other people's settings and hooks."""
    events = st.sampled_from([*CLIENTS[client].registered_events, "Other"])
    command = st.fixed_dictionaries({"command": st.sampled_from(["lint", "sh -c 'samuel emit PreAbilityCall'"])})
    entry = st.one_of(
        st.fixed_dictionaries({"matcher": st.just("Bash"), "hooks": st.lists(command, max_size=2)}), command
    )
    hooks = st.dictionaries(events, st.lists(entry, max_size=2), max_size=3)
    others = st.dictionaries(st.sampled_from(["a", "b", "version"]), OTHERS, max_size=2)
    value = draw(others)
    if draw(st.booleans()):
        value = {**value, key: draw(hooks)}
    if draw(st.booleans()):
        value = dict(reversed(value.items()))
    space = spaced(comments)
    return draw(space) + draw(text_of(value, comments)) + draw(space)


def _json_formats() -> list[tuple[str, EntryFormat]]:
    names = ("claude", "gemini", "cursor", "agy")  # one of each layout: the others share theirs
    return [(name, LAYOUTS[name].project[0].format) for name in names]


def assert_restored(entry_format: EntryFormat, text: str) -> None:
    added = entry_format.added(text, ON_PATH)
    assert entry_format.removed(added) == text
    assert entry_format.added(added, ON_PATH) == added
    assert entry_format.removed(entry_format.added(added, ELSEWHERE)) == text
    assert entry_format.events(added)
    assert not entry_format.events(text)


@pytest.mark.slow
@pytest.mark.parametrize(("client", "entry_format"), _json_formats(), ids=lambda value: str(value)[:8])
@given(data=st.data())
@pytest.mark.sampled(every=3)
def test_json_file_is_restored_byte_for_byte(client: str, entry_format: JsonHooks, data: st.DataObject) -> None:
    text = data.draw(settings_of(client, entry_format.key, entry_format.comments))
    assert_restored(entry_format, text)
    before = parse(text).root.value
    after = parse(entry_format.added(text, ON_PATH)).root.value
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert {key: value for key, value in after.items() if key in before and key != entry_format.key} == {
        key: value for key, value in before.items() if key != entry_format.key
    }


TOML_LINES = st.sampled_from(
    [
        "",
        "# [[hooks]]",
        "[providers.x]",
        'text = """',
        "[[hooks]]",
        'event = "Stop"',
        'command = "sh -c lint"  # mine',
        "[[hooks]]\nevent = \"PreToolUse\"\ncommand = 'samuel emit PreAbilityCall'\ntimeout = 5",
        "a.b = 1",
        "list = [\n  1, # one\n]",
    ]
)


@given(
    lines=st.lists(TOML_LINES, max_size=6),
    newline=st.sampled_from(["\n", "\r\n"]),
    ended=st.sampled_from([0, 1, 3]),
)
def test_toml_file_is_restored_byte_for_byte(lines: list[str], newline: str, ended: int) -> None:
    import tomllib

    text = newline.join("\n".join(lines).split("\n")) + newline * ended
    try:
        tomllib.loads(text)
    except ValueError:
        return
    assert_restored(LAYOUTS["kimi"].user[0].format, text)


@pytest.mark.parametrize("client", LAYOUTS)
def test_new_file_goes_with_its_entries(client: str) -> None:
    for entry_file in (*LAYOUTS[client].project, *LAYOUTS[client].user):
        text = entry_file.format.added(None, ON_PATH)
        assert entry_file.format.removed(text) is None
        assert entry_file.format.added(text, ON_PATH) == text
