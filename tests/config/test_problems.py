"""What a bad samuel.toml gets: whole texts, because the text is the product."""

from __future__ import annotations

import os
import re
import tempfile
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError, Problem
from samuel.config import load
from samuel.config.source import LARGEST

Refused = Callable[[str | bytes], str]


def test_an_agent_of_ones_own_needs_a_command(refused: Refused) -> None:
    assert refused("[agents.mine]\n") == (
        'F:1: the agent `mine` has no `command` (for example: command = ["./agent", "{prompt_file}"])'
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("rounds = 3", '`review` has no `agent`, so nothing would be reviewed (write agent = "codex")'),
        ('agent = "x"\nlenses = ["speed"]', "`lenses` must be an array of `security`, `tests`"),
        ('agent = "x"\nlenses = ["tests", "tests"]', "`lenses` lists `tests` twice"),
        ('agent = "x"\nrounds = 0', "`rounds` must be"),
    ],
)
def test_review_that_cannot_work_is_refused(refused: Refused, line: str, problem: str) -> None:
    assert problem in refused(f"[methodology.ralph.review]\n{line}\n")


def test_program_of_a_fleet_is_no_option(refused: Refused) -> None:
    assert refused('[fleet]\nprogram = "-c"\n') == (
        "F:2: `program` must be the name or the path of a program, which does not begin with `-`"
    )


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(refused: Refused) -> None:
    text = """\
    default_metodology = "ralph"

    [limits]
    handler_output_bytes = 0

    [hooks."qualty.check"]
    timeout = 60

    [hooks."before:loop"]
    strict = "yes"
    handlers = ["a", { use = "b", strickt = true }, "a"]

    [methodology.ralph]
    agnt = "blue"

    [hook]
    """
    assert refused(textwrap.dedent(text)) == textwrap.dedent("""\
    F:1: unknown key `default_metodology` (did you mean `default_methodology`?)
    F:4: `handler_output_bytes` must be at least 1, not 0
    F:6: `qualty.check` is not an event (did you mean `quality.check`?)
    F:7: `timeout` needs a unit, like "60s"
    F:10: `strict` must be true or false, not a string
    F:11: `a` is listed twice in `handlers` (keep one of the two)
    F:11: unknown key `strickt` in `hooks."before:loop".handlers[1]` (did you mean `strict`?)
    F:14: unknown key `agnt` in `methodology.ralph` (did you mean `agent`?)
    F:16: unknown key `hook` (did you mean `hooks`?)""")


def test_a_problem_has_a_file_a_line_a_message_and_a_hint(file: Path) -> None:
    file.write_text("\n[limitss]\n")
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert caught.value.problems == (
        Problem(what="unknown key `limitss`", file=str(file), line=2, hint="did you mean `limits`?"),
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        # Unknown keys, at every level.
        (
            "x = 1",
            "F:1: unknown key `x` (known here: `default_methodology`, `environment`, `hooks`, `methodology`, "
            "`distributions`, `import_hooks`, `pass_env`, `guardrails`, `limits`, `lanes`, `fleet`, `forge`, "
            "`abilities`, `agents`, `session`, `plugins`, `serve`)",
        ),
        (
            "[hooks.before_loop]\nstrikt = true",
            "F:2: unknown key `strikt` in `hooks.before_loop` (did you mean `strict`?)",
        ),
        (
            "[methodology.ralph.hook]",
            "F:1: unknown key `hook` in `methodology.ralph` (did you mean `hooks`?)",
        ),
        (
            "[limits]\nhandler_output = 1",
            "F:2: unknown key `handler_output` in `limits` (did you mean `handler_output_bytes`?)",
        ),
        (
            "[methodology.m.hooks.before_loop]\nhandlers = [{ use = 'a', x = 1 }]",
            "F:2: unknown key `x` in `methodology.m.hooks.before_loop.handlers[0]` "
            "(known here: `use`, `strict`, `timeout`, `mode`, `serial`, `background`)",
        ),
        # Wrong types.
        ("default_methodology = 1", "F:1: `default_methodology` must be a string, not an integer"),
        ("default_methodology = ''", "F:1: `default_methodology` must not be empty"),
        (
            "default_methodology = '../up'",
            "F:1: `default_methodology` must be made of letters, digits, `-` and `_`",
        ),
        ("hooks = true", "F:1: `hooks` must be a table, not a boolean"),
        ("[[hooks]]", "F:1: `hooks` must be a table, not an array"),
        ("hooks.before_loop = 2020-01-01", "F:1: `before_loop` must be a table, not a date or time"),
        ("methodology.ralph = 1.0", "F:1: `ralph` must be a table, not a float"),
        ("hooks.before_loop.strict = 1", "F:1: `strict` must be true or false, not an integer"),
        ("hooks.before_loop.handlers = 'a'", "F:1: `handlers` must be an array, not a string"),
        ("hooks.before_loop.order = [1]", "F:1: `order` must be a table, not an array"),
        ("limits.handler_prompt_bytes = 1.0", "F:1: `handler_prompt_bytes` must be an integer, not a float"),
        (
            "limits.handler_prompt_bytes = 9223372036854775808",
            "F:1: `handler_prompt_bytes` must fit in 64 bits",
        ),
        ("distributions = 'a'", "F:1: `distributions` must be an array, not a string"),
        (
            "distributions = ['a', 1]",
            "F:1: `distributions` must be an array of names, each a string that is not empty",
        ),
        (
            "distributions = [' ']",
            "F:1: `distributions` must be an array of names, each a string that is not empty",
        ),
        ("distributions = ['a', 'b', 'a']", "F:1: `distributions` lists `a` twice"),
        ("pass_env = ['A=B']", "F:1: `pass_env` must list names of environment variables; `A=B` is not one"),
        ("pass_env = ['A', 'A']", "F:1: `pass_env` lists `A` twice"),
        ("guardrails = 1", "F:1: `guardrails` must be a table, not an integer"),
        (
            "guardrails.since = 2020-01-01",
            "F:1: `since` must be text, a number, a boolean or an array of these, not a date or time",
        ),
        (
            "guardrails.rules = [[1]]",
            "F:1: `rules` must be text, a number, a boolean or an array of these, not an array",
        ),
        (
            "[guardrails.inner]",
            "F:1: `inner` must be text, a number, a boolean or an array of these, not a table",
        ),
        ("guardrails.x = [nan]", "F:1: `x` must be a finite number"),
        ("guardrails.x = 9223372036854775808", "F:1: `x` must fit in 64 bits"),
        (
            "[methodology.'a/b']",
            "F:1: `a/b` cannot name a methodology: it must be made of letters, digits, `-` and `_`",
        ),
        # Events.
        ("[hooks.before_lop]", "F:1: `before_lop` is not an event (did you mean `before:loop`?)"),
        (
            "[methodology.m.hooks.zzzzzz]",
            "F:1: `zzzzzz` is not an event (`samuel hooks schema` lists all events)",
        ),
        (
            "[hooks.'before:loop']\n[hooks.before_loop]",
            "F:2: `before_loop` is the same event as `before:loop` on line 1 (put both into one table)",
        ),
        (
            "[hooks.quality.check]\nstrict = 1",
            'F:1: `quality.check` needs quotes (write `[hooks."quality.check"]`)\n'
            "F:2: `strict` must be true or false, not an integer",
        ),
        (
            "[methodology.m.hooks.context.extra]\n[methodology.m.hooks.context.task]",
            'F:1: `context.extra` needs quotes (write `[methodology.m.hooks."context.extra"]`)\n'
            'F:2: `context.task` needs quotes (write `[methodology.m.hooks."context.task"]`)',
        ),
        # Durations.
        ("hooks.before_loop.timeout = 60", 'F:1: `timeout` needs a unit, like "60s"'),
        ("hooks.before_loop.timeout = '60'", 'F:1: `timeout` needs a unit, like "60s"'),
        (
            "hooks.before_loop.timeout = 'soon'",
            'F:1: `timeout` must be a number and a unit (ms, s, m or h), like "60s"',
        ),
        ("hooks.before_loop.timeout = '0ms'", 'F:1: `timeout` must be longer than "0s"'),
        (
            "hooks.before_loop.handlers = [{ use = 'a', timeout = 5 }]",
            'F:1: `timeout` needs a unit, like "5s"',
        ),
        # Handlers.
        (
            "hooks.before_loop.handlers = ['a', 1]",
            "F:1: item 2 of `handlers` must be a string or a table, not an integer",
        ),
        (
            "hooks.before_loop.handlers = [{ strict = true }]",
            'F:1: item 1 of `handlers` has no `use` (name the handler: { use = "..." })',
        ),
        (
            "hooks.before_loop.handlers = ['', '']",
            "F:1: `use` must not be empty\nF:1: `use` must not be empty",
        ),
        ('hooks.before_loop.handlers = ["\\u001b"]', "F:1: `use` must not contain control characters"),
        (
            "hooks.before_loop.handlers = ['...', 'a', '...']",
            "F:1: `...` is listed twice in `handlers` (keep one of the two)",
        ),
        (
            "hooks.before_loop.handlers = ['default', { use = 'samuel-default' }]",
            "F:1: `default` is listed twice in `handlers` (keep one of the two)",
        ),
        # Order.
        ("[hooks.before_loop.order]\na = true", "F:2: `a` must be an integer, not a boolean"),
        ("[hooks.before_loop.order]\na = 1.5", "F:2: `a` must be an integer, not a float"),
        ("[hooks.before_loop.order]\na = '1'", "F:2: `a` must be an integer, not a string"),
        (
            "[hooks.before_loop.order]\ndefault = 1\nsamuel-default = 2",
            "F:3: `samuel-default` is the same handler as the one on line 2 (keep one of the two)",
        ),
        (
            "[hooks.before_loop.order]\n'...' = 1",
            "F:2: `...` cannot have a number (name the handlers one by one)",
        ),
        # Keys that would disturb a terminal, or flood it.
        ('"\\u001b[31m" = 1', None),
        ("x" * 1000 + " = 1", None),
    ],
)
def test_the_message_of_a_problem_in_samuel_toml(refused: Refused, text: str, error: str | None) -> None:
    message = refused(text)
    if error is None:
        assert message.isprintable()
        assert len(message) < 400
    else:
        assert message == error


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (
            b"[methodology.ralph]\nx = 1\n\n[methodology . 'ralph']\n",
            "F:4: not valid TOML: the table `[methodology . 'ralph']` is in this file twice; the first is in line "
            "1 (put both under one)",
        ),
        (
            b"[a]\nb = 1\nc = 2\nb = [\n3,\n]\n",
            "F:6: not valid TOML: `a.b` has a value twice; the first is in line 2 (keep one of them)",
        ),
        (b"[[a]]\nb = 1\n[[a]]\nb = 2\nb = 3\n", None),
        (
            b"a = 1\n[a]\n",
            "F:2: not valid TOML: `[a]` does not go with line 1, which is about the same name "
            "(`a` is either a value or a table; keep one of them)",
        ),
        (
            b"[a]\nb.c = 1\n[a.b]\n",
            "F:3: not valid TOML: `[a.b]` does not go with line 2, which is about the same name "
            "(`a.b` is either a value or a table; keep one of them)",
        ),
        (
            b"a = 1\nb = \n",
            'F:2: not valid TOML: `b` has no value (write one after the `=`, like `b = "text"`)',
        ),
        (
            b"a = 1\nagent = codex\n",
            'F:2: not valid TOML: the value of `agent` has no quotes (write `agent = "codex"`)',
        ),
        (b"a = True\n", "F:1: not valid TOML: `True` is not a value (write `true`)"),
        (
            b"agent: codex\n",
            "F:1: not valid TOML: `agent: codex` has no value (a line is `key = value`, `[table]` or `# comment`)",
        ),
        (b"a = 'x\nb = 'y'", "F:1: not valid TOML: the value of `a` has no closing quote"),
        (b"a = 1 b = 2", "F:1: not valid TOML: expected newline or end of document after a statement"),
        (b"a = { b = 1 }\na.c = 2", None),
        (
            b"<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> x\n",
            "F:1: not valid TOML: it has a merge conflict (settle it, and remove the lines that git added)",
        ),
        (b"\n[a\n", "F:2: not valid TOML: `[a` has no closing `]`"),
        (
            b"\n\na = [1,",
            "F:3: not valid TOML: the array `a` has no closing `]`, or a value in it is wrong "
            "(values have quotes and commas)",
        ),
        (b"a = '''\n\n", "F:1: not valid TOML: expected \"'''\""),
        (
            b"\n[hooks.before:loop]",
            "F:2: not valid TOML: `[hooks.before:loop]` is not a table's name "
            '(a name with `:` in it needs quotes, like `[hooks."before:loop"]`)',
        ),
        (b"a = 1\n\nb = '\xff'", "F:3: the file is not UTF-8 (save it as UTF-8)"),
        ("a = 1".encode("utf-16"), "F:1: the file is not UTF-8 (save it as UTF-8)"),
        (b"\xef\xbb\xbfa = 1", "F:1: the file starts with a byte order mark (save it as UTF-8 without one)"),
        (b"#" * (LARGEST + 1), "F: the file is larger than 1048576 bytes (make it smaller)"),
        (b"\na = " + b"[" * 9999, "F:2: the file nests deeper than 50 levels (make it flatter)"),
        (b"\na = " + b"{a=" * 9999, "F:2: the file nests deeper than 50 levels (make it flatter)"),
        (b"\n" + b"a." * 9999 + b"a=1", "F:2: the file nests deeper than 50 levels (make it flatter)"),
    ],
)
def test_a_file_that_is_not_toml_is_refused_with_the_reason(
    refused: Refused, data: bytes, error: str | None
) -> None:
    message = refused(data)
    assert message == error or error is None
    assert not re.search(r"\('|Cannot|Invalid|Expected", message)  # the words of tomllib


def test_a_file_of_the_largest_size_is_accepted(file: Path) -> None:
    file.write_bytes(b"#" * LARGEST)
    assert load(file).file == file


def test_an_integer_of_thousands_of_digits_is_refused(refused: Refused) -> None:
    assert refused("x = " + "9" * 5000).startswith("F: not valid TOML: Exceeds the limit")


def problem_of(file: Path) -> Problem:
    with pytest.raises(ConfigError) as caught:
        load(file)
    (problem,) = caught.value.problems
    return problem


def test_a_directory_in_place_of_samuel_toml_is_refused(file: Path) -> None:
    file.mkdir()
    assert problem_of(file) == Problem("the file is a directory", str(file), 0, "put a file there, or remove it")


@pytest.mark.parametrize("target", ["real.toml", "missing.toml"])
def test_a_symbolic_link_in_place_of_samuel_toml_is_refused(file: Path, target: str) -> None:
    (file.parent / "real.toml").write_text("")
    file.symlink_to(target)
    assert problem_of(file) == Problem("the file is a symbolic link", str(file), 0, "put the file itself there")


def test_a_pipe_in_place_of_samuel_toml_does_not_hang(file: Path) -> None:
    os.mkfifo(file)
    hint = "put a plain file there, or remove it"
    assert problem_of(file) == Problem("the file is not a regular file", str(file), 0, hint)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_samuel_toml_that_may_not_be_read_is_a_problem(file: Path) -> None:
    file.touch(mode=0)
    assert problem_of(file) == Problem("the file cannot be read: Permission denied", str(file))


def test_a_file_in_place_of_the_projects_directory_is_a_problem(file: Path) -> None:
    file.touch()
    below = file / "samuel.toml"
    assert problem_of(below) == Problem("the file cannot be read: Not a directory", str(below))


# Pieces of TOML get much further than random bytes do.
pieces = st.sampled_from(
    [
        *("[hooks", ".before_loop", ".order", "]\n", "[[", "]]\n", "handlers", "strict", "timeout", "limits"),
        *(" = ", "\n", "[", "]", "{", "}", ",", "use", '"', "'", '"""', "'''", "\\", "#", ".", ":", "-"),
        *(
            "true",
            "1",
            "1.5",
            "inf",
            "2020-01-01",
            "'60s'",
            "'...'",
            "default",
            "methodology.m",
            "guardrails.",
        ),
    ]
)


@given(st.binary() | st.text().map(str.encode) | st.lists(pieces).map(lambda chosen: "".join(chosen).encode()))
@example(b"a = 9999-99-99")
@example(b"a = 1\r")
@example(b"\x00")
def test_any_bytes_give_a_config_or_a_config_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "samuel.toml"
        file.write_bytes(data)
        with suppress(ConfigError):
            load(file)
