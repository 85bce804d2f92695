"""No text makes the reader fail or think for long, and what bash runs is what the reader says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.length import at_length

from samuel.shell import ShellCommand, commands
from samuel.shell.reader import MAX_COMMANDS, MAX_OPAQUE

from .command_table import entries

FRAGMENTS = (
    *("<<E ", "<<E\n", "<<'E'\n", "\nE\n", "$(", "${", "`", '"', "'", "{", "}", "(", ")", "((", "[[ ", "a ", "a;"),
    *(
        "&&",
        "|",
        "case a in ",
        "if a;",
        "for i in ",
        "$((",
        "\\\n",
        "\\",
        "#",
        "=",
        "a=(",
        "x[",
        "<(",
        "<<<",
        "\n",
    ),
    *("*", "@(", "${x//", "$'", "\t", "!", "function f ", "-f ", "{a,b}", "{1..9}", "bash -c ", "eval ", "xargs "),
    *("sudo ", "env -S ", "find -exec ", "; done", "; fi", " esac", "\0", "\r", "é", "\ud800", "😀", "rm "),
)
TEXTS = st.text() | st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


@settings(max_examples=at_length(100, 5000), deadline=None)
@given(TEXTS)
def test_any_text_is_read_to_the_end_and_in_the_same_way_each_time(text: str) -> None:
    reading = commands(text)
    assert reading == commands(text)
    for command in reading.commands:
        assert all(isinstance(word, str) for word in command.words)
        assert command.unknown | command.patterns <= set(range(len(command.words)))
        assert command.words or command.redirects
    for part in reading.opaque:
        assert part.reason
        assert len(part.text) <= 200


@settings(max_examples=at_length(20, 2000), deadline=None)
@given(st.sampled_from(FRAGMENTS), st.sampled_from(("", *FRAGMENTS)), st.integers(100, at_length(1000, 20_000)))
def test_repetition_costs_no_more_than_the_limits_allow(first: str, second: str, length: int) -> None:
    fragment = first + second
    reading = commands(fragment * (length // len(fragment)))
    assert len(reading.commands) <= MAX_COMMANDS
    assert len(reading.opaque) <= MAX_OPAQUE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * 100_001, "longer than 100000 bytes"),
        ("a;" * 20_000, "too complicated"),
        ("|!" * 20_000, "too complicated"),
        ("cat <<E\nE\n" * 51, "more than 50 here-documents"),
        ("(" * 200 + "a" + ")" * 200, "nested too deeply"),
        ("sudo " * 50 + "a", "nested too deeply"),
        ("eval " * 50 + "a", "nested too deeply"),
        ("a\0b", "characters that no command can have"),
        ("a \ud800", "characters that no command can have"),
    ],
    ids=["long", "parts", "errors", "documents", "parentheses", "prefixes", "evaluations", "zero", "surrogate"],
)
def test_text_beyond_a_limit_is_opaque(text: str, reason: str) -> None:
    assert any(reason in part.reason for part in commands(text).opaque)


def test_characters_far_beyond_ascii_are_letters_of_a_word() -> None:
    text = "".join(map(chr, range(0xE0000, 0x10FFFF, 97)))
    (command,) = commands(f"{text} ${{{text}}} é{{a,b}}").commands
    assert command.words == (text, f"${{{text}}}", "éa", "éb")


def test_a_word_with_too_many_alternatives_is_not_known() -> None:
    (command,) = commands("echo " + "{a,b}" * 20 + " {1..999999} " + "{a," * 20 + "b" + "}" * 20).commands
    assert command.unknown == {1, 2, 3}


# Pieces of well-formed commands. Nothing in them exists but builtins: bash hands every program to our handler.
WORDS = (
    *(
        "a",
        "'b c'",
        '"d e"',
        "f\\ g",
        "$x",
        '"$x"',
        "{h,i}",
        "j{1..3}k",
        "$'l\\tm'",
        "-n",
        "n=o",
        "q#r",
        "*z",
        "[s]",
    ),
    *(
        '"t$(p9 u)v"',
        "$(p8)",
        "`p7 w`",
        '"`p6`"',
        "${y:-p5}",
        "${y:-$(p5 1)}",
        "$((1+2))",
        "\\'",
        '"\\""',
        "'i'\\''s'",
    ),
    *(
        "!",
        "é",
        "x,y",
        "=",
        '""',
        "$",
        '"$"',
        "a$",
        "\\\n",
        "1",
        "<(p4 k)",
        '$"tr"',
        '"a\\\nb"',
        "'a\\\nb'",
        "{}",
        "in",
    ),
)
PROGRAMS = (
    *(
        "p1",
        "p2",
        "'p'4",
        '"p5"',
        "p\\6",
        "p{7,8}",
        "$'\\x709'",
        "p\\\n2",
        "\\p3",
        "e''p",
        "time p1",
        "! p2",
        "p.2",
    ),
    *(
        "eval p3",
        "eval 'p4 a; p5'",
        "command p6",
        "x=1 p7",
        "x=1 y='2 3' p8",
        "exec p9",
        "builtin eval p1",
        "/bin/p4",
    ),
)
REDIRECTS = (
    "",
    "",
    "",
    " > f",
    " >f 2>&1",
    " >>f x",
    " < /dev/null",
    " <<< 'p1 q'",
    " <<< $(p3)",
    " &> f",
    " 2>&1 | p2",
)
JOINS = (" && ", " || ", " | ", "; ", "\n", "&&", "|", ";", " \\\n&& ", "|\n", " |& ", " # note\n")
simple_commands = st.builds(
    lambda program, words, redirect: " ".join((program, *words)) + redirect,
    st.sampled_from(PROGRAMS),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.sampled_from(REDIRECTS),
)
SHAPES = (
    *(
        "({0})",
        "{{ {0}; }}",
        "if {0}; then {1}; fi",
        "for i in a b; do {0}; done",
        "case a in b) {0};; a|c) {1} ;; esac",
    ),
    *(
        "f() {{ {0}; }}; f a",
        "x=$({0})",
        "p1 <<E\ntext $(p3 t)\nE\n{0}",
        "p1 <<'E' | p2\ntext $(\nE\n{0}",
        "! {0}",
    ),
    *('p1 "$({0})" {{a,b}}', "p1 `p2`; {0}"),
)
scripts = st.recursive(
    simple_commands,
    lambda inner: (
        st.builds("{1}{0}{2}".format, st.sampled_from(JOINS), inner, inner)
        | st.builds(
            lambda shape, one_part, other: shape.format(one_part, other), st.sampled_from(SHAPES), inner, inner
        )
    ),
    max_leaves=4,
)
HANDLER = """
command_not_found_handle() { local argv; printf -v argv '%s\\x1f' "$@"; printf '%s\\x1e' "$argv" >> "$LOG"; }
"""


def programs_run_by_bash(script: str, directory: Path) -> list[list[str]]:
    log, environment = directory / "log", directory / "environment"
    environment.write_text(HANDLER)
    log.write_bytes(b"")
    (directory / "work").mkdir(exist_ok=True)
    subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", "-c", script],
        cwd=directory / "work",
        env={"PATH": "/nonexistent", "BASH_ENV": str(environment), "LOG": str(log), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    records = log.read_bytes().decode("utf-8", "replace").split("\x1e")
    return [record.split("\x1f")[:-1] for record in records if record.endswith("\x1f")]


def could_be(command: ShellCommand, argv: list[str]) -> bool:
    if command.unknown or command.patterns or command.open_ended:
        return command.words[:1] == tuple(argv[:1])
    return list(command.words) == argv


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash")
@settings(max_examples=at_length(25, 3000), deadline=None)
@given(script=scripts)
def test_every_program_that_bash_runs_is_in_the_reading(
    script: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    reading = commands(script)
    if reading.opaque:
        return
    for argv in programs_run_by_bash(script, tmp_path_factory.mktemp("bash")):
        assert any(could_be(command, argv) for command in reading.commands), argv


def test_a_prefix_of_any_command_of_the_table_can_be_read() -> None:
    for entry in entries():
        for end in range(1, len(entry.text), at_length(17, 1)):
            commands(entry.text[:end])
