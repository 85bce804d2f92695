from __future__ import annotations

import click

from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import OutputTable
from samuel.config.place_spec import place_specs

COLUMNS = ("place", "state", "machine", "version", "clone")
PLACE = "The place to check: `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`; overrides places, can be repeated."


@command()
@click.option("--place", "places", multiple=True, metavar="PLACE", help=PLACE)
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
        specs = [spec for spec in place_specs(places or app.config.fleet.places) if spec.kind != "local"]
        if not specs:
            hint = "use `--place ssh:HOST:SLOTS`, or `places` below [fleet] in samuel.toml"
            raise UsageError("there is no machine to check", hint)
        answers = check_places(app, specs, agent or app.workplace.agent)
    data = [answer._asdict() for answer in answers]
    rows = [
        (
            entry.place,
            "ready" if entry.ok else "not ready",
            *(entry.machine or "-", entry.version or "-"),
            entry.clone or "-",
        )
        for entry in answers
    ]
    lines = [
        f"{entry.place}: {entry.why}" + (f"\n  {entry.hint}" if entry.hint else "")
        for entry in answers
        if entry.why
    ]
    return here.out.answer(data, OutputTable(COLUMNS, rows), *lines, ok=all(entry.ok for entry in answers))
