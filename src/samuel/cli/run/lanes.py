from __future__ import annotations

from pathlib import Path

import click

from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command, json_option
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.cli.output import OutputTable
from samuel.git.git import Git
from samuel.history.run_file import no_run
from samuel.process import environment
from samuel.process.inside_a_run import inside_a_run
from samuel.setup.run_state import run_file, state_directory
from samuel.workspaces.lanes.listing import ListedLane, lanes_directory, listed_lanes, remove_lane

COLUMNS = ("lane", "commit", "task", "path")
COMMANDS = {
    "list": CommandEntry("List the lanes and what is in them.", "lanes"),
    "prune": CommandEntry("Remove the lanes of this project from the disk.", "lanes"),
}


@json_option
@click.group(cls=LazyGroup, package="samuel.cli.run", table=COMMANDS, invoke_without_command=True)
@click.pass_context
def lanes(context: click.Context) -> int:
    """List the work trees of `run start --parallel`, or remove them.

    \b
        samuel run lanes
        samuel run lanes prune
    """
    if context.invoked_subcommand is not None:
        return 0
    return show(context.obj)


@command("list")
def list_(here: CommandContext) -> int:
    """List the lanes and what is in them.

    \b
        samuel run lanes list
    """
    return show(here)


@command()
def prune(here: CommandContext) -> int:
    """Remove the lanes of this project from the disk.

    What is in them and in no ref yet is kept in a ref first. Files that git ignores, such as installed packages,
    are removed; the next run makes them again with `[lanes] setup`.

    \b
        samuel run lanes prune
    """
    if run := inside_a_run():
        raise UsageError(f"`run lanes prune` does not work inside run {run}", "call it when the run is over")
    state = state_directory(here.root)
    record = paths.User.from_environment().record(state)
    record.mkdir(parents=True, exist_ok=True, mode=0o700)
    removed = []
    with no_run(state, record, "samuel run lanes prune"):
        git, lanes_on_disk = _lanes(here, state)
        for lane in lanes_on_disk:
            ref = remove_lane(git, lane, environment.clean(), SystemClock().now())
            removed.append({"lane": lane.name, "path": str(lane.path), "ref": ref})
    lines = [
        f"removed lane {entry['lane']}" + (f"; what was in it is in {entry['ref']}" if entry["ref"] else "")
        for entry in removed
    ]
    return here.out.answer(removed, "\n".join(lines) or "there are no lanes")


def show(here: CommandContext) -> int:
    _, lanes_on_disk = _lanes(here, state_directory(here.root))
    data = [
        {"lane": lane.name, "commit": lane.commit, "task": lane.task, "path": str(lane.path)}
        for lane in lanes_on_disk
    ]
    if not data:
        return here.out.answer(data, "there are no lanes; `samuel run start --parallel N` makes them")
    rows = [(lane.name, lane.commit[:12], lane.task or "-", str(lane.path)) for lane in lanes_on_disk]
    return here.out.answer(data, OutputTable(COLUMNS, rows))


def _lanes(here: CommandContext, state: Path) -> tuple[Git, list[ListedLane]]:
    git = Git(here.root, environment.clean())
    if not git.is_repository:
        return git, []
    run = run_file(state).load()
    active = run.active if run is not None else {}
    directory = lanes_directory(paths.User.from_environment(), here.root, state)
    return git, listed_lanes(git, directory, active)
