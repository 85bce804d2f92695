from __future__ import annotations

import click
from msgspec import UNSET

from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.cli.command_context import CommandContext, command
from samuel.process.inside_a_run import inside_a_run
from samuel.setup.run_state import run_file, state_directory
from samuel.workspaces.fleet.drain import drained, set_drained


@command()
@click.argument("host")
@click.option("--undo", is_flag=True, help="Let it have work again.")
def drain(here: CommandContext, host: str, *, undo: bool) -> int:
    """Give a machine no new work in the run under way.

    What it works on is finished and landed. HOST is the name of the place, or of the machine; of a cluster, the
    address of one machine too, as `fleet status` shows it. The run remembers it when it is killed and resumed; the
    next run does not.

    \b
        samuel fleet drain build1
        samuel fleet drain build1 --undo
    """
    if inside := inside_a_run():
        raise UsageError(f"`fleet drain` does not work inside run {inside}", "call it from another terminal")
    state = state_directory(here.root)
    run = run_file(state).load()
    if run is None or run.over or run.lanes is UNSET or not run.lanes.fleet:
        raise SamuelError("no run with other machines is under way", "`samuel fleet status` shows the last one")
    places = {alias: name for name in run.lanes.fleet for alias in (name.partition(":")[2], name)}
    places |= {place.machine: name for name, place in run.lanes.fleet.items() if place.machine}
    for name, place in run.lanes.fleet.items():
        for machine in place.machines:
            places |= dict.fromkeys((machine.name, f"{name}/{machine.name}"), f"{name}/{machine.name}")
    if host not in places:
        hint = did_you_mean(host, places, f"the places are {', '.join(run.lanes.fleet)}")
        raise UsageError(f"the run has no place `{host}`", hint)
    name, record = places[host], paths.User.from_environment().record(state)
    others = tuple(place for place in drained(record, run.run_id) if place != name)
    now = others if undo else (*others, name)
    set_drained(record, run.run_id, now)
    text = f"{name} gets work again" if undo else f"{name} gets no new work in run {run.run_id}"
    return here.out.answer({"place": name, "drained": list(now)}, text)
