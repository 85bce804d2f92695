from __future__ import annotations

from typing import Any

import click

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.run.start import BASELINE, PROFILE, REQUIRE_CHECKS, VERBOSE, run_loop, run_options, run_request
from samuel.setup.run_state import run_file, state_directory, task_store
from samuel.setup.unguarded import ACCEPT_UNGUARDED

PILOT = ("focus", "discover_interval", "max_discovery_tasks")


@command()
@click.option("--focus", help="What the agent should look at first.")
@click.option(
    "--discover-interval", type=click.IntRange(1), metavar="N", help="Look for tasks every N iterations."
)
@click.option("--max-discovery-tasks", type=click.IntRange(1), metavar="N", help="Add at most N tasks each time.")
@click.option(
    "--iterations", type=click.IntRange(1), metavar="N", help="Run at most N iterations; overrides max_iterations."
)
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--agent", default="", help="The agent to use instead of the methodology's.")
@click.option("--require-checks", is_flag=True, help=REQUIRE_CHECKS)
@click.option("--baseline", type=click.Choice(["refuse", "accept"]), help=BASELINE)
@click.option("--accept-unguarded", is_flag=True, help=ACCEPT_UNGUARDED)
@click.option("--profile", is_flag=True, help=PROFILE)
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
@click.option("-v", "--verbose", is_flag=True, help=VERBOSE)
@env_option
def pilot(here: CommandContext, /, **options: Any) -> int:
    """Work on the tasks, and let the agent look for more.

    No PRD is needed: the tasks that the agent adds are worked on like any other task.

    \b
        samuel run pilot --focus "error messages"
    """
    state = state_directory(here.root, options["methodology"])
    store = task_store(state)
    if not store.exists:
        run_file(state).forget()
        store.replace_all(())
    settings = {name: options[name] for name in PILOT if options[name] is not None}
    return run_loop(here, run_request(options, pilot=settings), run_options(options))
