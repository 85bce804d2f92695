"""`samuel ability`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "list": CommandEntry("List the abilities of this project."),
    "show": CommandEntry("Show an ability: its purpose, its input and how it runs."),
    "route": CommandEntry("Find the abilities that fit a text, with the reasons."),
    "lint": CommandEntry("Check the registry and ABILITY.md."),
    "create": CommandEntry("Check a call and prepare it for `run`.", "call"),
    "run": CommandEntry("Run a prepared call, with its hooks.", "call"),
    "call": CommandEntry("Check a call and run it."),
    "delete": CommandEntry("Delete a call and its record.", "call"),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def ability() -> None:
    """Find and run the abilities in the project's registry.

    \b
        samuel ability route "run the billing regression tests"
        samuel ability call billing_regression --input '{"suite": "full"}'
    """
