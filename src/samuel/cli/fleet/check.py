from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from samuel.app import App
from samuel.app.options import Overrides
from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import OutputTable
from samuel.config.place_spec import PlaceSpec, place_specs
from samuel.machines.fleet_check import check_places

COLUMNS = ("place", "state", "machine", "version", "clone")


def places_option(verb: str) -> Callable[[Any], Any]:
    help = (
        f"The place to {verb}: `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`; overrides places, can be repeated."
    )
    return click.option("--place", "places", multiple=True, metavar="PLACE", help=help)


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
    overrides = Overrides(methodology=methodology, environment=environment)
    with here.open(overrides=overrides) as app:
        answers = check_places(app, machines_of(app, places, "check"), agent or app.workplace.agent)
    data = [answer._asdict() for answer in answers]
    rows = [{**entry, "state": "ready" if entry["ok"] else "not ready"} for entry in data]
    lines = [trouble(entry.place, entry.why, entry.hint) for entry in answers if entry.why]
    return here.out.answer(data, OutputTable.of(COLUMNS, rows), *lines, ok=all(entry.ok for entry in answers))


def machines_of(app: App, places: tuple[str, ...], verb: str) -> list[PlaceSpec]:
    """The places on other machines: these, or those of samuel.toml. Raises UsageError if there are none."""
    specs = [spec for spec in place_specs(places or app.config.fleet.places) if spec.kind != "local"]
    if not specs:
        hint = "use `--place ssh:HOST:SLOTS`, or `places` below [fleet] in samuel.toml"
        raise UsageError(f"there is no machine to {verb}", hint)
    return specs


def trouble(place: str, why: str, hint: str) -> str:
    """What keeps a place from working, and what to do."""
    return f"{place}: {why}" + (f"\n  {hint}" if hint else "")
