from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.fleet import machines_of, places_option, trouble
from samuel.cli.output import OutputTable

COLUMNS = ("place", "state", "machine", "version", "clone")


@command()
@places_option("check")
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--agent", default="", help="The agent to use instead of the methodology's.")
@env_option
def check(here: CommandContext, places: tuple[str, ...], methodology: str, agent: str, environment: str) -> int:
    """Check whether the machines can work on this project.

    Each machine is asked what a run would ask it before its first task: whether it can be reached, has the same
    protocol, the rules and plugins of the project, trusts them, and has the agent, the sandbox and room on its
    disk. What is missing is named. No agent starts.

    \b
        samuel fleet check --place ssh:build1:2
    """
    from samuel.app.options import Overrides
    from samuel.machines.fleet_check import check_places  # most of the package

    overrides = Overrides(methodology=methodology, environment=environment)
    with here.open(overrides=overrides) as app:
        answers = check_places(app, machines_of(app, places, "check"), agent or app.workplace.agent)
    data = [answer._asdict() for answer in answers]
    rows = [{**entry, "state": "ready" if entry["ok"] else "not ready"} for entry in data]
    lines = [trouble(entry.place, entry.why, entry.hint) for entry in answers if entry.why]
    return here.out.answer(data, OutputTable.of(COLUMNS, rows), *lines, ok=all(entry.ok for entry in answers))
