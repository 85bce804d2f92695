"""`samuel fleet`: the machines of a run."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "check": CommandEntry("Check whether the machines can work on this project."),
    "status": CommandEntry("Show the machines of the run, and what each does."),
    "drain": CommandEntry("Give a machine no new work in the run under way."),
    "prune": CommandEntry("Remove what finished runs left on the machines and on the remote."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def fleet() -> None:
    """Check, show, drain and prune the machines on which agents work.

    \b
        samuel fleet check --place ssh:build1:2
        samuel fleet status
    """
