from __future__ import annotations

import math
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click
import msgspec

from samuel.app import App, Overrides
from samuel.attempt.stop import Stop
from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.base.wording import first_line, plural
from samuel.cli.command_context import CommandContext, command, env_option, options
from samuel.cli.output import OutputTable
from samuel.cli.signals import END, handled_by
from samuel.config import load_personal
from samuel.config.place_spec import MOST_SLOTS, PlaceSpec, place_specs
from samuel.display.line_display import JsonDisplay, PlainDisplay
from samuel.display.live_display import LiveDisplay
from samuel.display.run_profile import COLUMNS, RunProfile
from samuel.display.status_lines import run_fields
from samuel.events.endings import ExitReason
from samuel.history.budgets import NOTHING_ADDED, AddedBudget
from samuel.history.no_task import WITHOUT_TASK
from samuel.process.detached import detach
from samuel.run.coordinator import Coordinator
from samuel.setup.readiness import ACCEPT_UNGUARDED, RunRequest, open_for_run
from samuel.setup.run_state import state_directory, task_store
from samuel.setup.steering import refuse_paused
from samuel.tasks.task import find
from samuel.watch.started_run import watch_started
from samuel.watch.watching import has_terminal, refuse_without_library

# Both write the duration of each call to progress.md, so that the numbers outlive the terminal.
PROFILE = "Print a table of the time spent in each hook; write [hooks.timing] lines to progress.md."
ADD_BUDGET = "Go on with a run that used up its budget: `20000tokens` or `5usd` more."
VERBOSE = "Print the agent's output; write [hooks.timing] lines to progress.md."
PARALLEL = "Let N agents work at once, each in a work tree of its own; what passes the checks is merged."
PLACE = "Let agents work there: `local:N`, `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`; overrides places."
REQUIRE_CHECKS = "Refuse to start if the project has no checks."
ACCEPTANCE = "Whether an agent writes tests for each task before the work on it; overrides acceptance."
REQUIRE_PROOF = "Complete no task that is not proven, unless its `Proof:` line says otherwise."
TAKE_ENVIRONMENT = (
    "Let checks use .venv, node_modules, ... as they are now, also what agents changed in an earlier run."
)
BASELINE = "Checks that fail before the first agent: refuse to start, or accept them as known failures."
WATCH = "Show the run as `run watch` does, in place of its lines. The run goes on when you leave the view."

_AMOUNT = re.compile(r"(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?)\s*(?P<unit>tokens?|usd|\$)", re.IGNORECASE)


class BudgetType(click.ParamType[AddedBudget]):
    """The value of `--add-budget`: an amount of tokens or of money."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> AddedBudget:
        if isinstance(value, AddedBudget):
            return value
        match = _AMOUNT.fullmatch(str(value).strip())
        number = float(re.sub("[_,]", "", match["number"])) if match else 0.0
        if match is None or not math.isfinite(number) or number <= 0:
            self.fail(f"`{value}` is not an amount; use for example `20000tokens` or `5usd`", param, ctx)
        if match["unit"].lower().startswith("token"):
            return AddedBudget(tokens=int(number))
        return AddedBudget(cost_usd=number)


loop_options = options(
    click.option("--require-checks", is_flag=True, help=REQUIRE_CHECKS),
    click.option("--require-proof", is_flag=True, help=REQUIRE_PROOF),
    click.option("--baseline", type=click.Choice(["refuse", "accept"]), help=BASELINE),
    click.option("--acceptance", type=click.Choice(["agent", "none"]), help=ACCEPTANCE),
    click.option("--take-environment", is_flag=True, help=TAKE_ENVIRONMENT),
    click.option("--accept-unguarded", is_flag=True, help=ACCEPT_UNGUARDED),
    click.option("--profile", is_flag=True, help=PROFILE),
    click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now."),
    click.option("-v", "--verbose", is_flag=True, help=VERBOSE),
    env_option,
)
iterations_option = click.option(
    "--iterations", type=click.IntRange(1), metavar="N", help="Run at most N iterations; overrides max_iterations."
)


@command()
@iterations_option
@click.option("--parallel", type=click.IntRange(1, MOST_SLOTS), default=None, metavar="N", help=PARALLEL)
@click.option("--place", "places", multiple=True, metavar="PLACE", help=PLACE)
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--agent", default="", help="The agent to use instead of the methodology's.")
@click.option("--add-budget", type=BudgetType(), default=NOTHING_ADDED, help=ADD_BUDGET)
@click.option("--dry-run", is_flag=True, help="Print the next prompt; start no agent, change nothing.")
@click.option("--watch", is_flag=True, help=WATCH)
@loop_options
def start(here: CommandContext, /, **values: Any) -> int:
    """Work on the tasks until they are done.

    Each iteration starts a fresh agent, and a task counts as done only when the project's own checks pass. The
    first Ctrl-C finishes the current attempt, the second one stops now. A run that was killed resumes where it
    stopped.

    \b
        samuel run start --iterations 5
    """
    places = chosen_places(values["places"], values["parallel"])
    request, options = run_request(values, places=places), run_options(values)
    if not values["watch"]:
        return run_loop(here, request, options)
    if here.out.json or options.dry_run:
        other = "--json" if here.out.json else "--dry-run"
        raise UsageError(f"`--watch` and `{other}` cannot both be given", "leave one of them out")
    return _watched(here, request, options)


def _watched(here: CommandContext, request: RunRequest, options: RunOptions) -> int:
    """The run in a process of its own, and the view here; without a terminal the run with its lines."""
    if not has_terminal():
        return run_loop(here, request, options)
    refuse_without_library()
    here.offer_trust(yes=options.yes)  # the process of the run can ask nothing
    process = detach()
    if process is None:
        return run_loop(here, request, options)
    return watch_started(here.root, process, request.methodology)


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a command asks of a run beside its settings: how long, and what is shown."""

    iterations: int | None = None
    add_budget: AddedBudget = NOTHING_ADDED
    dry_run: bool = False
    profile: bool = False
    verbose: bool = False
    yes: bool = False
    """Trust everything that the project brings along."""
    must_complete: str = ""
    """The id of a task; the exit code is 1 if the run does not complete it."""
    only_land: bool = False
    """No agent works; what is ready lands."""


def run_request(values: Mapping[str, Any], **more: Any) -> RunRequest:
    """Of the options of a command, those that override settings."""
    names = (
        *("methodology", "agent", "environment", "require_checks", "require_proof", "take_environment"),
        "accept_unguarded",
    )
    return RunRequest(
        baseline=values["baseline"] or "",
        acceptance=values["acceptance"] or "",
        **{name: values[name] for name in names},
        **more,
    )


def run_options(values: Mapping[str, Any]) -> RunOptions:
    """Of the options of a command, those that override no setting."""
    names = RunOptions.__struct_fields__
    return RunOptions(**{name: value for name, value in values.items() if name in names})


def run_loop(here: CommandContext, request: RunRequest, options: RunOptions) -> int:
    """Open the project, run the loop and print the result."""
    preferences = load_personal(paths.User.from_environment().config)
    if not (options.dry_run or options.only_land):
        refuse_paused(here.root, request.methodology)
    live = sys.stdout.isatty() and not here.out.json and preferences.live
    verbose = options.verbose or preferences.verbose
    display = LiveDisplay(verbose) if live else JsonDisplay() if here.out.json else PlainDisplay(verbose)
    run_profile = RunProfile()

    def open_app(overrides: Overrides) -> App:
        here.offer_trust(yes=options.yes)
        return here.open(overrides=overrides, watch=display, sinks=[run_profile])

    with open_for_run(here.root, request, open_app, here.out.tell) as app:
        settings = app.workplace.settings
        stop = Stop()
        timings = options.profile or verbose
        places = request.places or (() if options.only_land else place_specs(app.config.fleet.places))
        loop = app.loop(stop, timings=timings, dry_run=options.dry_run, places=places, only_land=options.only_land)
        if options.dry_run:
            return _dry_run(here, loop, request.agent or app.workplace.agent)
        with _signals(stop, display.stop_requested), display.showing():
            agents = (request.agent,) if request.agent else app.workplace.chosen_agents
            most = 0 if options.only_land else options.iterations or settings.max_iterations
            run = loop.run(most, agents, options.add_budget)
    exit_code = run.exit_code or _left_open(here, options.must_complete)
    table = OutputTable(COLUMNS, run_profile.rows())
    data = {**run_fields(run), **({"profile": table.plain()} if options.profile else {})}
    warnings = [*(display.warnings if isinstance(display, JsonDisplay) else ()), *run.complaints]
    error = run.exit_message if run.exit_reason is ExitReason.ERROR else ""
    here.out.answer(data, *([table] if options.profile else []), ok=exit_code == 0, warnings=warnings, error=error)
    return exit_code


def _left_open(here: CommandContext, task_id: str) -> int:
    """1 if this task is not completed."""
    return int(
        bool(task_id) and find(task_store(state_directory(here.root)).load(), task_id).status != "completed"
    )


def chosen_places(places: tuple[str, ...], parallel: int | None) -> tuple[PlaceSpec, ...]:
    """The places that the command line names; () if it names none."""
    if places and parallel is not None:
        raise UsageError("`--parallel` and `--place` cannot both be given", f"use `--place local:{parallel}`")
    return place_specs(places) if parallel is None else (PlaceSpec("local", parallel),)


def _dry_run(here: CommandContext, loop: Coordinator, agent: str) -> int:
    """Print the prompt of one iteration, also where a later step would stop it."""
    data = loop.dry_run(agent)
    blocks = []
    if data["prompt"]:
        subject = f"task {data['task']}" if data["task"] else data["mode"]
        size = plural(len(data["prompt"].encode()), "byte")
        blocks = [f"dry run: {subject}, a prompt of {size} for {data['agent']}\n", data["prompt"].rstrip("\n")]
    ends = data["exit_reason"]
    if ends == ExitReason.QUEUE_EMPTY:
        blocks.append(f"dry run: {WITHOUT_TASK[ends]}")
    elif data["stopped"]:
        blocks += [*([""] if blocks else []), f"dry run: stopped: {first_line(data['stopped'])}"]
    # As the run itself would end: that nothing is left to do is no failure.
    ok = ends.exit_code == 0 if ends else not data["stopped"]
    return here.out.answer(data, *blocks, ok=ok, error=data["stopped"] if here.out.json and not ok else "")


@contextmanager
def _signals(stop: Stop, answer: Callable[[], None]) -> Iterator[None]:
    """The first signal lets the attempt finish and is answered at once, the second one stops the run now."""

    def request_stop(signum: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop.requested = True
        answer()

    with handled_by(request_stop, signal.SIGINT, *END):
        yield
