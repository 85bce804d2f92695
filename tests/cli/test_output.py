"""Tables for people, aligned text for pipes; and what a hostile repository wrote does no harm to a terminal."""

from __future__ import annotations

import json

import pytest

from samuel.base.printable import safe
from samuel.base.printable_json import safe_json
from samuel.cli.output import Output, OutputTable

HOSTILE = "\x1b[31mred\x1b]0;title\x07\r\x9b2J\u202edrow\u200b\udcff\U000e0041"


def test_what_a_terminal_might_act_on_is_escaped():
    printed = safe(HOSTILE)
    assert printed == r"\x1b[31mred\x1b]0;title\x07\x0d\x9b2J\u202edrow\u200b\udcff" + "\\U000e0041"
    assert safe("a\n\tb…é中") == "a\n\tb…é中"
    assert safe("a\nb", keep="") == "a\\x0ab"


def test_json_is_escaped_and_stays_the_same_value():
    text = safe_json({"name": HOSTILE, "fine": "é…"})
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "é…" in text
    assert json.loads(text) == {"name": HOSTILE, "fine": "é…"}


def test_a_table_in_a_pipe_is_aligned_text(capsys):
    Output().show(OutputTable(("name", "status"), [("a", "ok"), ("longer\x1b[0m", "x"), ("multi\nline", "")]))
    assert capsys.readouterr().out == (
        "NAME           STATUS\na              ok\nlonger\\x1b[0m  x\nmulti\\x0aline\n"
    )


def test_an_answer_is_text_with_warnings_aside(capsys):
    assert Output().answer({"a": 1}, "text", warnings=["odd"]) == 0
    assert capsys.readouterr() == ("text\n", "warning: odd\n")


def test_an_answer_is_one_envelope(capsys):
    assert Output(json=True).answer({"a": 1}, "text", ok=False, warnings=["odd"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"ok": False, "data": {"a": 1}, "warnings": ["odd"], "error": None}
    assert captured.err == ""


@pytest.mark.slow
def test_on_a_terminal_a_table_has_lines_and_colour(on_terminal, guard):
    code, screen = on_terminal("hooks", "list")
    assert code == 0
    assert "───" in screen
    assert "\x1b[33muntrusted\x1b[0m" in screen


@pytest.mark.slow
def test_no_color_is_printed_when_no_color_is_set(on_terminal, guard):
    code, screen = on_terminal("hooks", "list", NO_COLOR="1")
    assert code == 0
    assert "───" in screen
    assert "\x1b" not in screen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["[red]x", "a\x1b]0;owned\x07", "a\nb", "\u202egnp.exe"])
@pytest.mark.sampled(every=2)
def test_a_hostile_file_name_on_a_terminal(on_terminal, put, name: str):
    put(f".samuel/hooks/{name}", "#!/bin/sh\n", 0o755)
    for arguments in (
        ["hooks", "list"],
        ["trust", "--list"],
        ["trust", "--show"],
        ["doctor"],
        ["doctor", "--json"],
    ):
        code, screen = on_terminal(*arguments, NO_COLOR="1", COLUMNS="300")
        assert code == 0, screen
        assert not set("\x1b\x07\u202e") & set(screen)
        if name.startswith("["):
            assert name in screen


def test_hostile_content_when_it_is_shown(on_terminal, put):
    put(".samuel/hooks/x", "#!/bin/sh\nrm -rf ~ # \x1b[2K\x1b[1A\rls\n", 0o755)
    _, screen = on_terminal("trust", typed="n\n")
    assert r"rm -rf ~ # \x1b[2K\x1b[1A\x0dls" in screen
