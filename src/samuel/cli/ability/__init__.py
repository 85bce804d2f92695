"""`samuel ability`: the table of its commands, and where they find abilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel import paths
from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.abilities.registry import Registry
    from samuel.cli.command_context import CommandContext

COMMANDS = {
    "list": CommandEntry("samuel.cli.ability.list:list_", "Show every ability of this project."),
    "show": CommandEntry(
        "samuel.cli.ability.show:show", "Show what an ability is for, what it takes and how it runs."
    ),
    "route": CommandEntry("samuel.cli.ability.route:route", "Find the abilities for what is wanted, and say why."),
    "lint": CommandEntry("samuel.cli.ability.lint:lint", "Say what is wrong with the registry and ABILITY.md."),
    "create": CommandEntry("samuel.cli.ability.create:create", "Check a call, and prepare it."),
    "run": CommandEntry("samuel.cli.ability.run:run", "Run a call that was prepared, through its hooks."),
    "call": CommandEntry("samuel.cli.ability.call:call", "Check a call and run it."),
    "delete": CommandEntry("samuel.cli.ability.delete:delete", "Remove a call and its record."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def ability() -> None:
    """Find what can be done here, and do it.

    \b
        samuel ability route "run the billing regression tests"
        samuel ability call billing_regression --input '{"suite": "full"}'
    """


def abilities(here: CommandContext) -> Registry:
    from samuel.abilities.registry import load  # YAML, which the other groups do without

    return load(here.root, paths.User.from_environment().cache)


def problems(registry: Registry) -> list[str]:
    """A word about files that could not be used."""
    count = len(registry.problems)
    told = f"{count} problem{'s' if count > 1 else ''} in the registry; `samuel ability lint` shows them"
    return [told] if count else []
