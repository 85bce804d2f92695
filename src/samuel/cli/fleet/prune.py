from __future__ import annotations

import click

from samuel.app.options import Overrides
from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.fleet.check import machines_of, places_option, trouble
from samuel.cli.output import OutputTable
from samuel.machines.fleet_prune import prune_places
from samuel.process.inside_a_run import inside_a_run

COLUMNS = ("place", "refs", "lanes", "left")


@command()
@places_option("prune")
@click.option("--agent", default="", help="The agent whose machines of a cluster are pruned.")
@env_option
def prune(here: CommandContext, places: tuple[str, ...], agent: str, environment: str) -> int:
    """Remove what finished runs of this project left on the machines and on the git remote.

    These are the free lanes, with their ignored files such as installed packages, and the refs
    below refs/samuel of the runs that `run history` lists. A ref or a lane stays if its files are in no commit of
    this repository, if it belongs to a run that is under way or can be resumed, or to another person's run. The
    clone stays, too.

    \b
        samuel fleet prune
        samuel fleet prune --place ssh:build1:2
    """
    if run := inside_a_run():
        raise UsageError(f"`fleet prune` does not work inside run {run}", "call it when the run is over")
    with here.open(overrides=Overrides(environment=environment)) as app:
        answers = prune_places(app, machines_of(app, places, "prune"), agent or app.workplace.agent)
    rows = [
        (entry.place, *(str(len(names)) if entry.ok else "-" for names in (entry.refs, entry.lanes, entry.left)))
        for entry in answers
    ]
    lines = []
    for entry in answers:
        if entry.why:
            lines.append(trouble(entry.place, entry.why, entry.hint))
        lines += [f"{entry.place}: {name} stays: this repository does not have its files" for name in entry.left]
    data = [entry._asdict() for entry in answers]
    return here.out.answer(data, OutputTable(COLUMNS, rows), *lines, ok=all(entry.ok for entry in answers))
