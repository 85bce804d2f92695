"""A group whose commands are imported when they are called, so that help and completion stay fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from samuel.base.nearest import did_you_mean


class CommandEntry(NamedTuple):
    help: str
    """The command's first line, repeated here so that `--help` need not import it."""
    module: str = ""
    """The module that has the command, in the group's package; "" for the one of the command's name."""


class LazyGroup(click.Group):
    """The command `log` is the function `log` of the module `log`; `list` is `list_`, as Python has that word."""

    def __init__(self, *, package: str, table: Mapping[str, CommandEntry], **settings: Any) -> None:
        super().__init__(**settings)
        self.package = package
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module = importlib.import_module(f"{self.package}.{self.table[cmd_name].module or cmd_name}")
        command: click.Command = getattr(module, cmd_name, None) or getattr(module, f"{cmd_name}_")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.table and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.table, f"the commands are {', '.join(self.table)}")
            raise click.UsageError(f"`{args[0]}` is not a command; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])
