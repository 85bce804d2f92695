from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from samuel import paths
from samuel.app import App
from samuel.cli.here import Here, json_option
from samuel.cli.run.profile import Profile
from samuel.cli.run.ready import make_ready
from samuel.cli.run.watching import Display, Lines
from samuel.config import load_personal
from samuel.ralph.run import Run
from samuel.ralph.steps import Stop

# The queue was emptied, or a limit that somebody set was reached.
GOOD_ENDS = ("queue_empty", "max_iterations", "budget", "discovery_exhausted", "gate_stop")


@click.command()
@click.option("--iterations", type=click.IntRange(1), help="At most so many, instead of max_iterations.")
@click.option("--methodology", default="", help="Another than default_methodology.")
@click.option("--agent", default="", help="Another than the methodology's.")
@click.option("--dry-run", is_flag=True, help="Run one iteration's hooks; start no agent, change nothing.")
@click.option("--profile", is_flag=True, help="End with a table of where the time went.")
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the agent says.")
@json_option
@click.pass_obj
def start(here: Here, /, **options: Any) -> int:
    """Work the tasks to done: a fresh agent for each, the project's own checks as the gate.

    Ctrl-C once finishes the current step and stops; twice stops now. A run that was killed goes on where it was.

    \\b
        samuel run start --iterations 5
    """
    return run_loop(here, **options)


def run_loop(
    here: Here,
    *,
    iterations: int | None,
    methodology: str,
    agent: str,
    dry_run: bool,
    profile: bool,
    yes: bool,
    verbose: bool,
    pilot: dict[str, Any] | None = None,
) -> int:
    """Get ready, run, show. `pilot` holds settings that hold for this run only."""
    prefers = load_personal(paths.User.from_environment().config)
    live = sys.stdout.isatty() and not here.out.json and prefers.live
    watch = Display(verbose or prefers.verbose) if live else Lines(verbose or prefers.verbose)
    quiet = (lambda kind, facts: None) if here.out.json else watch
    times = Profile(quiet)
    with make_ready(here, methodology, agent, yes=yes, watch=quiet, sink=times, pilot=pilot) as app:
        settings = app.workplace.settings
        stop = Stop()
        loop = app.loop(stop, timings=profile or verbose, dry_run=dry_run)
        if dry_run:
            return _rehearse(here, app, loop, agent or app.workplace.agent)
        with _signals(stop), watch.showing():
            run = loop.run(iterations or settings.max_iterations, agent or app.workplace.agent)
    data = plain(run)
    blocks = [times.table()] if profile else []
    here.out.answer(data, *blocks, ok=run.exit_reason in GOOD_ENDS)
    return 130 if run.exit_reason == "interrupted" else 0 if run.exit_reason in GOOD_ENDS else 1


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


def _rehearse(here: Here, app: App, loop: Any, agent: str) -> int:
    said = loop.rehearse(agent)
    return here.out.answer(
        said, f"a dry run: {said['task'] or 'no task'}, prompt of {said['prompt_bytes']} bytes for {agent}"
    )


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """Once: stop after this step. Twice: stop now."""

    def wanted(signum: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop.requested = True
        print("\nstopping after this step; once more stops now", file=sys.stderr)

    before = {name: signal.signal(name, wanted) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
