from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.inside_a_run import inside_a_run
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.cli.output import OutputTable
from samuel.cli.run import run_file, state_directory
from samuel.files.lock import held
from samuel.git.git import Git
from samuel.process import environment
from samuel.workspaces.lanes.listing import ListedLane, lanes_directory, listed_lanes, remove_lane

COLUMNS = ("lane", "commit", "task", "path")
COMMANDS = {
    "list": CommandEntry("samuel.cli.run.lanes:list_lanes", "List the lanes and what is in them."),
    "prune": CommandEntry("samuel.cli.run.lanes:prune", "Remove the lanes of this project from the disk."),
}


@click.group(cls=LazyGroup, table=COMMANDS, invoke_without_command=True)
@json_option
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


@click.command("list")
@json_option
@click.pass_obj
def list_lanes(here: CommandContext) -> int:
    """List the lanes and what is in them.

    \b
        samuel run lanes list
    """
    return show(here)


@click.command()
@json_option
@click.pass_obj
def prune(here: CommandContext) -> int:
    """Remove the lanes of this project from the disk.

    What is in them and in no ref yet is kept in a ref first. Files that git ignores, such as installed packages,
    are removed; the next run makes them again with `[lanes] setup`.

    \b
        samuel run lanes prune
    """
    if run := inside_a_run():
        raise UsageError(f"`run lanes prune` does not work inside run {run}", "call it when the run is over")
    state = state_directory(here)
    record = paths.User.from_environment().record(state)
    record.mkdir(parents=True, exist_ok=True, mode=0o700)
    removed = []
    with ExitStack() as locks:
        for directory in (state, record):
            if directory.is_dir():
                locks.enter_context(held(directory / "run.lock", note="samuel run lanes prune"))
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
    _, lanes_on_disk = _lanes(here, state_directory(here))
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
