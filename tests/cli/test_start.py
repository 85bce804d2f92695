"""What is true of every command: help, exit codes, and that nothing is imported too early."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from samuel.cli.hooks import COMMANDS as HOOKS
from samuel.cli.hooks import hooks
from samuel.cli.lazy import LazyGroup
from samuel.cli.root import COMMANDS
from samuel.cli.root import samuel as root
from samuel.cli.run import COMMANDS as RUN
from samuel.cli.run import run
from samuel.scaffold.hook import LANGUAGES
from samuel.version import __version__

HELP = """\
Usage: samuel [OPTIONS] COMMAND [ARGS]...

  One hook system and one autonomous loop for every coding agent.

      samuel init
      samuel hooks new notify --event after:iteration --lang bash
      samuel hooks fire after:iteration

Options:
  -C, --project DIR  Work on the project at or above DIR instead of the
                     current directory.
  --version          Show the version and exit.
  -h, --help         Show this message and exit.

Commands:
  init       Set up a project: samuel.toml and .samuel/.
  run        Run an agent in a loop on the tasks of a PRD.
  verify     Run the checks of a receipt again and compare.
  attempt    Do one attempt at a task for a coordinator on another machine.
  mcp        Show the run to a chat client, over the Model Context Protocol.
  fleet      Check, show, drain and prune the machines on which agents work.
  sync       Write AGENTS.md and copy it to the files other agents read.
  hooks      List, explain, test and write hooks.
  bridge     Connect the hooks of coding agents to Samuel.
  emit       Fire an event from any program or agent.
  serve      Answer `samuel emit` from a process that stays.
  bench      Measure what a hook call costs in this project.
  session    Record an agent session and fire its events.
  ability    Find and run the abilities in the project's registry.
  knowledge  Find the documents to read for a task.
  recipe     List and run prompts with arguments.
  skill      List the SKILL.md files offered to agents.
  plugin     Install and manage plugins: hooks, skills and recipes.
  agents     List the agents and which of them are installed.
  trust      Review and trust what a repository wants to run.
  schema     Print the JSON Schema of samuel.toml.
  doctor     Check the project and this machine, and say how to fix problems.

  Exit codes: 0 ok, 1 failed or denied, 2 wrong usage or configuration, 3 a
  bug in Samuel.
"""


def imported(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "samuel", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split("|")[-1].strip() for line in done.stderr.splitlines() if "|" in line}


def test_the_version_is_told_before_anything_is_imported():
    watched = ("samuel", "click", "typing", "rich", "markdown_it")
    mine = {name for name in imported("--version") if name.startswith(watched)}
    assert mine == {"samuel", "samuel.version"}


def test_help_imports_no_command():
    names = imported("--help")
    assert "samuel.cli.root" in names
    assert not names & {
        "samuel.cli.init",
        "samuel.cli.trust",
        "samuel.app",
        "samuel.process.tree",
        "rich",
        "markdown_it",
    }


def test_the_program_and_the_module_are_the_same():
    done = subprocess.run(
        [sys.executable, "-m", "samuel", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"samuel {__version__}\n"


def test_version_after_another_option(samuel):
    assert samuel("-C", ".", "--version") == (0, f"samuel {__version__}\n", "")


def test_the_help_of_samuel_lists_all_commands(samuel):
    assert samuel("--help") == (0, HELP, "")


def test_no_command_at_all_shows_the_help(samuel):
    assert samuel() == (2, "", HELP)


@pytest.mark.parametrize(("group", "table"), [(root, COMMANDS), (hooks, HOOKS), (run, RUN)])
def test_every_command_says_the_same_in_the_table_and_in_its_help(group: LazyGroup, table):
    for name, entry in table.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.name == name
        assert (command.help or "").splitlines()[0] == entry.help


EVERY = (*COMMANDS, *(f"hooks {name}" for name in HOOKS), *(f"run {name}" for name in RUN))


@pytest.mark.parametrize("name", EVERY)
def test_every_command_shows_an_example(samuel, name: str):
    code, out, err = samuel(*name.split(), "--help")
    assert (code, err) == (0, "")
    assert f"      samuel {name} " in out or f"      samuel {name}\n" in out or name == "hooks"


def test_unknown_commands_name_the_nearest(samuel):
    assert samuel("hoks") == (
        2,
        "",
        "error: `hoks` is not a command; did you mean `hooks`?\nsee `samuel --help`\n",
    )
    assert samuel("hooks", "xyzzy") == (
        2,
        "",
        "error: `xyzzy` is not a command; the commands are list, explain, fire, validate, check, enable, "
        "disable, rules, register, log, replay, new, import, schema\n"
        "see `samuel hooks --help`\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("emit", "`EVENT` is missing"),
        ("run done", "`ID` is missing"),
        ("hooks log --since 3d", "`--since` is not an option of `samuel hooks log`"),
        ("hooks log --limt 3", "`--limt` is not an option of `samuel hooks log`; did you mean `--limit`?"),
        ("hooks log --limit", "`--limit` needs a value"),
        ("hooks log --limit 0", "`--limit` must be a whole number of 1 or more, not `0`"),
        ("bench --rounds x", "`--rounds` must be a whole number from 1 to 10000, not `x`"),
        ("bench --rounds 10001", "`--rounds` must be a whole number from 1 to 10000, not `10001`"),
        ("session do x", "`NUMBER` must be a whole number, not `x`"),
        ("hooks list --json=x", "`--json` takes no value"),
        ("hooks list extra", "`extra` is one argument too many for `samuel hooks list`"),
        ("hooks list a b", "`a b` are arguments too many for `samuel hooks list`"),
        (
            "hooks new x --event quality.check --lang pyton",
            "`--lang` must be one of LANGUAGES, not `pyton`; did you mean `python`?",
        ),
        ("plugin validate nope", "`DIR` must be a directory that exists, not `nope`"),
        ("hooks replay --since x", "`--since`: `x` is not an age like `12h`, `7d` or `2w`"),
    ],
)
def test_a_wrong_command_line_is_answered_in_the_words_of_all_messages(samuel, words: str, message: str):
    ran = samuel(*words.split())
    message = message.replace("LANGUAGES", ", ".join(f"`{name}`" for name in LANGUAGES))
    assert (ran.code, ran.out, ran.err.splitlines()[0]) == (2, "", f"error: {message}")


def test_a_project_option_that_is_not_a_directory_is_refused(samuel, put):
    put("file", "")
    assert samuel("-C", "nope", "hooks", "list").code == 2
    assert samuel("-C", "file", "hooks", "list") == (
        2,
        "",
        "error: `--project` must be a directory that exists, not `file`\nsee `samuel --help`\n",
    )


def test_another_project_than_the_current_directory(samuel, put, guard, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert samuel("-C", "project", "trust", "project/.samuel/hooks/guard", "--list").code == 2
    ran = samuel("-C", "project", "trust", ".samuel/hooks/guard", "--list", "--json")
    assert [item["name"] for item in ran.json["data"]] == [".samuel/hooks/guard"]
