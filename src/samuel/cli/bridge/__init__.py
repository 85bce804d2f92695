"""`samuel bridge`: the table of its commands, and what they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from samuel.base import paths
from samuel.cli.command_context import CommandContext, options
from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.bridges.files import BridgeContext, FileChange

COMMANDS = {
    "add": CommandEntry("Let an agent's own hooks ask Samuel."),
    "remove": CommandEntry("Remove what `bridge add` wrote."),
    "list": CommandEntry("List the agents and which of them ask Samuel."),
    "check": CommandEntry("Check that an agent's hooks ask Samuel."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def bridge() -> None:
    """Connect the hooks of coding agents to Samuel.

    \b
        samuel bridge add claude codex
        samuel bridge check claude
    """


agents_argument = click.argument("agents", nargs=-1, required=True, metavar="AGENT...")


def _level_option(level: str, help: str) -> Callable[[Any], Any]:
    def or_project(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
        return value or "project"

    return click.option(f"--{level}", "level", flag_value=level, default=None, callback=or_project, help=help)


change_options = options(
    agents_argument,
    _level_option("project", "The agent's file in this project, to commit for a team (the default)."),
    _level_option("user", "The agent's file in your home directory: for all your projects."),
    click.option("--dry-run", is_flag=True, help="Show the difference and write nothing."),
)


def bridge_context(here: CommandContext) -> BridgeContext:
    from samuel.bridges.files import BridgeContext  # the table of clients, which `--help` does without
    from samuel.process.tree import own_all_children

    own_all_children()  # the commands of this group start clients; only Samuel starts processes in this program
    return BridgeContext(here.root, paths.User.from_environment(), os.environ)


def known_clients(names: Sequence[str]) -> list[str]:
    """The names, each once; UsageError with the nearest name for one that is no client."""
    from samuel.clients.table import client  # one command of the group needs it

    return [client(name).name for name in dict.fromkeys(names)]


def plain_change(change: FileChange, *, with_diff: bool) -> dict[str, object]:
    data: dict[str, object] = {
        "client": change.client,
        "level": change.level,
        "file": str(change.file),
        "changed": change.changes,
    }
    return {**data, "diff": change.diff()} if with_diff else data
