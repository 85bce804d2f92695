from __future__ import annotations

from typing import Any

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.start import iterations_option, loop_options, run_loop, run_options, run_request
from samuel.setup.run_state import run_file, state_directory, task_store

PILOT = ("focus", "discover_interval", "max_discovery_tasks")


@command()
@click.option("--focus", help="What the agent should look at first.")
@click.option(
    "--discover-interval", type=click.IntRange(1), metavar="N", help="Look for tasks every N iterations."
)
@click.option("--max-discovery-tasks", type=click.IntRange(1), metavar="N", help="Add at most N tasks each time.")
@iterations_option
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--agent", default="", help="The agent to use instead of the methodology's.")
@loop_options
def pilot(here: CommandContext, /, **values: Any) -> int:
    """Work on the tasks, and let the agent look for more.

    No PRD is needed: the tasks that the agent adds are worked on like any other task.

    \b
        samuel run pilot --focus "error messages"
    """
    state = state_directory(here.root, values["methodology"])
    store = task_store(state)
    if not store.exists:
        run_file(state).forget()
        store.replace_all(())
    settings = {name: values[name] for name in PILOT if values[name] is not None}
    return run_loop(here, run_request(values, pilot=settings), run_options(values))
