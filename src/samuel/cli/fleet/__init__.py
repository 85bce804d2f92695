"""`samuel fleet`: the machines of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from samuel.base.errors import UsageError
from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.config.place_spec import PlaceSpec

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


def places_option(verb: str) -> Callable[[Any], Any]:
    help = (
        f"The place to {verb}: `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`; overrides places, can be repeated."
    )
    return click.option("--place", "places", multiple=True, metavar="PLACE", help=help)


def machines_of(app: App, places: tuple[str, ...], verb: str) -> list[PlaceSpec]:
    """The places on other machines: these, or those of samuel.toml. Raises UsageError if there are none."""
    from samuel.config.place_spec import place_specs  # two commands of the group need it

    specs = [spec for spec in place_specs(places or app.config.fleet.places) if spec.kind != "local"]
    if not specs:
        hint = "use `--place ssh:HOST:SLOTS`, or `places` below [fleet] in samuel.toml"
        raise UsageError(f"there is no machine to {verb}", hint)
    return specs


def trouble(place: str, why: str, hint: str) -> str:
    """What keeps a place from working, and what to do."""
    return f"{place}: {why}" + (f"\n  {hint}" if hint else "")
