"""The page about the command line: the help of every command, as it prints it."""

from __future__ import annotations

from collections.abc import Iterable

import click
from page import NOTE

from samuel.cli.json_input import MAX_BYTES, METAVAR
from samuel.cli.lazy import LazyGroup
from samuel.cli.root import samuel

# What exit code 1 means for a command, if that is not obvious.
EXIT_1 = {
    "samuel init": "samuel.toml exists already, or a strict hook stopped it",
    "samuel run init": "there are tasks already, without `--force`, or you answered no",
    "samuel run sync": "the tasks did not come from a file, or this is inside a run",
    "samuel run start": "it ended because of failures, or could not begin: no tasks, another run, a missing agent "
    "or sandbox, something not trusted",
    "samuel run pilot": "it ended because of failures, or could not begin, as with `run start`",
    "samuel run status": "there are no tasks yet",
    "samuel run watch": "Textual is not installed, or the process that guards the terminal was killed",
    "samuel run show": "git has no change of that task to show, with `--diff`",
    "samuel run log": "there is no such log",
    "samuel run receipt": "the task has no receipt",
    "samuel verify": "the checks say something else or there is no receipt, 4 it cannot be verified here",
    "samuel mcp": "`samuel-loop[mcp]` is not installed",
    "samuel run report": "the file cannot be written",
    "samuel run tasks": "there are no tasks yet",
    "samuel run done": "the task cannot be completed now; inside a run, it is not the current one",
    "samuel run skip": "the task is completed or skipped already; inside a run, it is not the current one",
    "samuel run block": "the task is not open; inside a run, it is not the current one",
    "samuel run reset": "this is inside a run",
    "samuel run restore": "nothing is kept, a file changed since, or a run is under way",
    "samuel run accept": "the task is not disputed, its work does not pass the checks any more, or a run could "
    "not begin, as with `run start`",
    "samuel run refuse": "the task is not disputed; inside a run, an agent cannot decide",
    "samuel run enqueue": "there are no tasks yet, this discovery has reached its limit, or you answered no",
    "samuel sync": "a strict hook stopped it, or a file is a link",
    "samuel plugin add": "you did not agree, it is installed already, or it cannot be fetched or used",
    "samuel plugin install": "you did not agree, or something differs from samuel.lock; nothing is installed then",
    "samuel plugin update": "you did not agree to what changed (`--non-interactive` without `--yes`), or one "
    "plugin cannot be fetched or used",
    "samuel plugin remove": "another plugin requires it, without `--force`",
    "samuel plugin new": "the directory exists and is not empty",
    "samuel plugin validate": "there is at least one problem",
    "samuel bridge add": "this is inside a run",
    "samuel bridge remove": "this is inside a run",
    "samuel bridge check": "something keeps the hooks of an agent from asking Samuel, or `--live` did not prove "
    "that they do",
    "samuel recipe show": "the recipe is broken",
    "samuel recipe run": "the agent failed, a hook denied, or it could not begin: a missing agent or plugin, "
    "something not trusted",
    "samuel skill show": "the skill is broken",
    "samuel hooks new": "a hook of that name exists already",
    "samuel hooks fire": "the event was not ok: a handler denied it, or a check or a strict handler failed",
    "samuel hooks replay": "a verdict is different today",
    "samuel hooks validate": "a YAML hook is broken",
    "samuel hooks check": "the agent loses what a hook answers",
    "samuel hooks enable": "its file cannot be changed by a program, or two hooks have that id",
    "samuel hooks disable": "its file cannot be changed by a program, or two hooks have that id",
    "samuel session start": "the session has already begun",
    "samuel session prompt": "a hook denied the prompt, or no session is open",
    "samuel session stop": "a blocking hook failed, or no session is open",
    "samuel session end": "a blocking hook failed, or no session is open",
    "samuel session do": "an action failed, or still waits",
    "samuel session show": "there has been no session yet",
    "samuel ability lint": "there is at least one problem",
    "samuel ability create": "it is `unavailable`: no such ability, another environment, an input that does not "
    "fit, something not trusted",
    "samuel ability run": "it failed, a hook denied it, or it has run already",
    "samuel ability call": "it is `unavailable`, it failed, or a hook denied it",
    "samuel ability delete": "it is running",
    "samuel knowledge route": "there is no ROUTING.md",
    "samuel knowledge lint": "there is at least one problem, or no ROUTING.md",
    "samuel trust": "something is not trusted yet",
    "samuel doctor": "there is at least one finding of the level `error`",
}

INTERRUPTED = (
    "samuel run start",
    "samuel run pilot",
    "samuel run log",
    "samuel recipe run",
    "samuel ability run",
    "samuel ability call",
    "samuel hooks replay",
)

# The convention of agents' own hooks, which differs from that of other commands.
EMIT = "Exit codes: 0 go on, 2 denied, 1 something was wrong on an event that cannot be denied.\n"


def cli_page() -> str:
    parts = [
        NOTE,
        "# Command line\n\nThe help of every command, as `--help` prints it.\n",
        "Every command takes `--json`; its answer is described under [JSON output](json-output.md). [Exit "
        "codes](exit-codes.md) are the same everywhere: 0 ok, 1 failed or denied, 2 wrong usage or "
        "configuration, 3 a bug in Samuel. [Tab completion](../how-to/shell-completion.md) works in bash, zsh and "
        "fish.\n",
        f"An option that takes `{METAVAR}` takes JSON in four ways: the JSON itself if it begins with `{{` or "
        "`[`, `FILE` or `@FILE`, or `-` for stdin. A file is named from the current directory, or from the one of "
        f"`-C`; JSON has at most {MAX_BYTES // 1024**2} MiB.\n",
    ]
    for name, command, ctx in commands(samuel, "samuel", None):
        parts.append(f"## {name}\n\n```text\n{command.get_help(ctx)}\n```\n")
        if name == "samuel emit":
            parts.append(EMIT)
        elif not isinstance(command, click.Group):
            no = f", 1 {EXIT_1[name]}" if name in EXIT_1 else ""
            stopped = ", 130 interrupted" if name in INTERRUPTED else ""
            parts.append(f"Exit codes: 0 ok{no}, 2 usage or configuration{stopped}.\n")
    return "\n".join(parts)


def commands(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterable[tuple[str, click.Command, click.Context]]:
    settings = {**command.context_settings, "terminal_width": 90}
    ctx = click.Context(command, info_name=name.split()[-1], parent=parent, **settings)
    yield name, command, ctx
    if isinstance(command, LazyGroup):
        for inner in command.list_commands(ctx):
            subcommand = command.get_command(ctx, inner)
            assert subcommand is not None
            yield from commands(subcommand, f"{name} {inner}", ctx)
