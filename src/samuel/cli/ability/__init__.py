"""`samuel ability`: the table of its commands, and where they find abilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel.base import paths
from samuel.base.wording import plural
from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.cli.command_context import CommandContext
    from samuel.routing.abilities.registry import Registry

COMMANDS = {
    "list": CommandEntry("List the abilities of this project."),
    "show": CommandEntry("Show an ability: its purpose, its input and how it runs."),
    "route": CommandEntry("Find the abilities that fit a text, with the reasons."),
    "lint": CommandEntry("Check the registry and ABILITY.md."),
    "create": CommandEntry("Check a call and prepare it for `run`.", "call"),
    "run": CommandEntry("Run a prepared call, with its hooks.", "call"),
    "call": CommandEntry("Check a call and run it."),
    "delete": CommandEntry("Delete a call and its record."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def ability() -> None:
    """Find and run the abilities in the project's registry.

    \b
        samuel ability route "run the billing regression tests"
        samuel ability call billing_regression --input '{"suite": "full"}'
    """


def abilities(here: CommandContext) -> Registry:
    from samuel.routing.abilities.registry import load  # YAML, which the other groups do without

    return load(here.root, paths.User.from_environment().cache)


def problems(registry: Registry) -> list[str]:
    """A warning if files of the registry could not be used."""
    count = len(registry.problems)
    warning = f"{plural(count, 'problem')} in the registry; `samuel ability lint` shows them"
    return [warning] if count else []
