from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from samuel import paths
from samuel.app import App
from samuel.cli.command_context import CommandContext, env_option, json_option
from samuel.cli.run.display import LiveDisplay, OnlyWhatHolds, PlainDisplay
from samuel.cli.run.preflight import make_ready
from samuel.cli.run.profile import RunProfile
from samuel.config import load_personal
from samuel.loop.run import Run
from samuel.loop.stop import Stop

# The queue was emptied, or a limit that somebody set was reached.
GOOD_ENDS = ("queue_empty", "max_iterations", "budget", "discovery_exhausted", "gate_stop")

# Both write what each handler took into progress.md, so that the numbers outlive the screen.
PROFILE = "End with a table of where the time went; [hooks.timing] lines go to progress.md."
VERBOSE = "Show what the agent says; [hooks.timing] lines go to progress.md."


@click.command()
@click.option("--iterations", type=click.IntRange(1), help="At most so many, instead of max_iterations.")
@click.option("--methodology", default="", help="Another than default_methodology.")
@click.option("--agent", default="", help="Another than the methodology's.")
@click.option("--dry-run", is_flag=True, help="Run one iteration's hooks; start no agent, change nothing.")
@click.option("--profile", is_flag=True, help=PROFILE)
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
@click.option("-v", "--verbose", is_flag=True, help=VERBOSE)
@env_option
@json_option
@click.pass_obj
def start(here: CommandContext, /, **options: Any) -> int:
    """Work the tasks to done.

    A fresh agent for each, the project's own checks as the gate. Ctrl-C once finishes the current step and stops;
    twice stops now. A run that was killed goes on where it was.

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
    pilot: dict[str, Any] | None = None,
) -> int:
    """Get ready, run, show. `pilot` holds settings that hold for this run only."""
    prefers = load_personal(paths.User.from_environment().config)
    live = sys.stdout.isatty() and not here.out.json and prefers.live
    verbose = verbose or prefers.verbose
    watch = LiveDisplay(verbose) if live else OnlyWhatHolds() if here.out.json else PlainDisplay(verbose)
    times = RunProfile(watch)
    with make_ready(
        here, methodology, agent, yes=yes, watch=watch, sink=times, pilot=pilot, environment=environment
    ) as app:
        settings = app.workplace.settings
        stop = Stop()
        loop = app.loop(stop, timings=profile or verbose, dry_run=dry_run)
        if dry_run:
            return _rehearse(here, app, loop, agent or app.workplace.agent)
        with _signals(stop), watch.showing():
            run = loop.run(iterations or settings.max_iterations, agent or app.workplace.agent)
    table = times.table()
    data = {**plain(run), **({"profile": table.plain()} if profile else {})}
    only_failures = run.iterations_run > 0 and run.consec_fails == run.iterations_run
    ok = run.exit_reason in GOOD_ENDS and not run.complaints and not only_failures
    warnings = [*(watch.warnings if isinstance(watch, OnlyWhatHolds) else ()), *run.complaints]
    error = run.exit_message if run.exit_reason == "error" else ""
    code = here.out.answer(data, *([table] if profile else []), ok=ok, warnings=warnings, error=error)
    return 130 if run.exit_reason == "interrupted" else code


def plain(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "methodology": run.methodology,
        "agent": run.agent,
        "exit_reason": run.exit_reason,
        "iterations_run": run.iterations_run,
        "max_iterations": run.max_iterations,
        "outcomes": run.outcomes,
        "usage": run.usage,
    }


def _rehearse(here: CommandContext, app: App, loop: Any, agent: str) -> int:
    said = loop.rehearse(agent)
    size = len(said["prompt"].encode())
    what = f"task {said['task']}" if said["task"] else said["mode"]
    told = f"stopped: {said['stopped']}" if said["stopped"] else f"{what}, a prompt of {size} bytes for {agent}"
    return here.out.answer(said, f"a dry run: {told}", ok=not said["stopped"])


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """Once: stop after this step. Twice: stop now."""

    def wanted(signum: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop.requested = True
        with suppress(OSError):  # a terminal that was closed; not by print, which may be in the middle of a line
            os.write(2, b"\nstopping after this step; once more stops now\n")

    before = {name: signal.signal(name, wanted) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
