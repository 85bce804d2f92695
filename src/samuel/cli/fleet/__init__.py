"""`samuel fleet`: the machines of a run."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "check": CommandEntry("samuel.cli.fleet.check:check", "Check whether the machines can work on this project."),
    "status": CommandEntry("samuel.cli.fleet.status:status", "Show the machines of the run, and what each does."),
    "drain": CommandEntry("samuel.cli.fleet.drain:drain", "Give a machine no new work in the run under way."),
    "prune": CommandEntry(
        "samuel.cli.fleet.prune:prune", "Remove what finished runs left on the machines and on the remote."
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def fleet() -> None:
    """Check, show, drain and prune the machines on which agents work.

    \b
        samuel fleet check --place ssh:build1:2
        samuel fleet status
    """
