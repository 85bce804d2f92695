from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from samuel import paths
from samuel.cli.command_context import CommandContext, env_option, json_option
from samuel.cli.run.display import JsonDisplay, LiveDisplay, PlainDisplay, plural
from samuel.cli.run.preflight import make_ready
from samuel.cli.run.profile import RunProfile
from samuel.cli.signals import END, handled_by
from samuel.config import load_personal
from samuel.events.endings import ExitReason
from samuel.loop.run import Run
from samuel.loop.stop import Stop

if TYPE_CHECKING:
    from samuel.loop.loop import Loop

# Both write the duration of each call to progress.md, so that the numbers outlive the terminal.
PROFILE = "Print a table of the time spent in each hook; write [hooks.timing] lines to progress.md."
VERBOSE = "Print the agent's output; write [hooks.timing] lines to progress.md."
REQUIRE_CHECKS = "Refuse to start if the project has no checks."
BASELINE = "Checks that fail before the first agent: refuse to start, or accept them as known failures."


@click.command()
@click.option(
    "--iterations", type=click.IntRange(1), metavar="N", help="Run at most N iterations; overrides max_iterations."
)
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--agent", default="", help="The agent to use instead of the methodology's.")
@click.option("--dry-run", is_flag=True, help="Run the hooks of one iteration; start no agent, change nothing.")
@click.option("--require-checks", is_flag=True, help=REQUIRE_CHECKS)
@click.option("--baseline", type=click.Choice(["refuse", "accept"]), help=BASELINE)
@click.option("--profile", is_flag=True, help=PROFILE)
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
@click.option("-v", "--verbose", is_flag=True, help=VERBOSE)
@env_option
@json_option
@click.pass_obj
def start(here: CommandContext, /, **options: Any) -> int:
    """Work on the tasks until they are done.

    Each iteration starts a fresh agent, and a task counts as done only when the project's own checks pass. The
    first Ctrl-C stops after the current step, the second one stops now. A run that was killed resumes where it
    stopped.

    \b
        samuel run start --iterations 5
    """
    return run_loop(here, **options)


def run_loop(
    here: CommandContext,
    *,
    iterations: int | None,
    methodology: str,
    agent: str,
    dry_run: bool,
    profile: bool,
    yes: bool,
    verbose: bool,
    environment: str,
    require_checks: bool = False,
    baseline: str | None = None,
    pilot: dict[str, Any] | None = None,
) -> int:
    """Open the project, run the loop and print the result. `pilot` are settings of the pilot for this run only."""
    preferences = load_personal(paths.User.from_environment().config)
    live = sys.stdout.isatty() and not here.out.json and preferences.live
    verbose = verbose or preferences.verbose
    display = LiveDisplay(verbose) if live else JsonDisplay() if here.out.json else PlainDisplay(verbose)
    run_profile = RunProfile(display)
    with make_ready(
        here,
        methodology,
        agent,
        yes=yes,
        watch=display,
        sink=run_profile,
        pilot=pilot,
        environment=environment,
        require_checks=require_checks,
        baseline=baseline,
    ) as app:
        settings = app.workplace.settings
        stop = Stop()
        loop = app.loop(stop, timings=profile or verbose, dry_run=dry_run)
        if dry_run:
            return _dry_run(here, loop, agent or app.workplace.agent)
        with _signals(stop), display.showing():
            run = loop.run(iterations or settings.max_iterations, agent or app.workplace.agent)
    table = run_profile.table()
    data = {**plain(run), **({"profile": table.plain()} if profile else {})}
    warnings = [*(display.warnings if isinstance(display, JsonDisplay) else ()), *run.complaints]
    error = run.exit_message if run.exit_reason is ExitReason.ERROR else ""
    ok = run.exit_code == 0
    here.out.answer(data, *([table] if profile else []), ok=ok, warnings=warnings, error=error)
    return run.exit_code


def plain(run: Run) -> dict[str, Any]:
    """A run as the data of `--json`."""
    return {
        "run_id": run.run_id,
        "methodology": run.methodology,
        "agent": run.agent,
        "exit_reason": run.exit_reason or "",
        "iterations_run": run.iterations_run,
        "max_iterations": run.max_iterations,
        "outcomes": run.outcomes,
        "usage": run.usage,
    }


def _dry_run(here: CommandContext, loop: Loop, agent: str) -> int:
    data = loop.dry_run(agent)
    subject = f"task {data['task']}" if data["task"] else data["mode"]
    size = plural(len(data["prompt"].encode()), "byte")
    result = f"stopped: {data['stopped']}" if data["stopped"] else f"{subject}, a prompt of {size} for {agent}"
    return here.out.answer(data, f"dry run: {result}", ok=not data["stopped"])


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """The first signal stops the run after the current step, the second one stops it now."""

    def request_stop(signum: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop.requested = True
        with suppress(OSError):  # the terminal may be closed. Not by print, which may be in the middle of a line
            os.write(2, b"\nstopping after this step; press Ctrl-C again to stop now\n")

    with handled_by(request_stop, signal.SIGINT, *END):
        yield
