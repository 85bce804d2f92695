from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from samuel.app import App, Overrides
from samuel.app.session_events import recording_fire
from samuel.attempt.turn.agent_session import AgentSession, SessionResult
from samuel.attempt.turn.tool_hooks import accepting_unguarded
from samuel.attempt.workplace import Workplace
from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import fields_of
from samuel.cli.recipe.list import recipes
from samuel.cli.signals import ended_by_signals
from samuel.clients.adapter.agent import TOOLS
from samuel.config import load as load_config
from samuel.dispatch.record import Fired
from samuel.display.line_display import PlainDisplay
from samuel.events import Event
from samuel.history.notices import LoopWarning, Report
from samuel.prompts.prompt_context import PromptContext
from samuel.setup.readiness import ACCEPT_UNGUARDED, refuse_without_agent, refuse_without_plugins
from samuel.skills.recipe import Recipe
from samuel.skills.text_files import choose
from samuel.trust import commands

FIELDS = (
    *("recipe", "session_id", "agent", "exit_code", "stdout", "stderr", "stdout_path"),
    *("changed_files", "usage", "coverage", "messages", "stopped"),
)


@command()
@click.argument("name")
@click.option("--arg", "argument_texts", multiple=True, metavar="NAME=VALUE", help="An argument of the recipe.")
@click.option("--agent", default="", help="The agent to use, instead of the recipe's or the methodology's.")
@click.option("--dry-run", is_flag=True, help="Show the prompt; start no agent, fire nothing.")
@click.option("--accept-unguarded", is_flag=True, help=ACCEPT_UNGUARDED)
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
@env_option
def run(
    here: CommandContext,
    name: str,
    argument_texts: Sequence[str],
    agent: str,
    dry_run: bool,
    accept_unguarded: bool,
    yes: bool,
    environment: str,
) -> int:
    """Run the agent with the prompt of a recipe.

    It is one session: its events are fired, and hooks see the recipe's name as `recipe_name`.

    \b
        samuel recipe run review --arg branch=main
    """
    arguments = _arguments(argument_texts)
    if not dry_run:
        here.offer_trust(yes=yes)
    output = _RecipeOutput(verbose=not here.out.json)
    settings = accepting_unguarded(load_config(here.root / paths.CONFIG)) if accept_unguarded else None
    overrides = Overrides(config=settings, environment=environment)
    with here.open(watch=output, overrides=overrides) as app:
        recipe = choose(recipes(app), name, "recipe")
        prompt = recipe.prompt(app.context(), arguments)
        fire = recording_fire(app, here.out.tell)
        session = session_of(app.workplace, fire, app.prompt_context(), recipe, agent)
        if dry_run:
            data = {"recipe": recipe.name, "agent": session.agent, "prompt": prompt}
            return here.out.answer(data, prompt.rstrip("\n"), warnings=app.warnings)
        _refuse_what_cannot_start(app, session.agent, here.out.tell)
        with ended_by_signals():
            ran = session.run(prompt)
    here.out.tell("\n".join([*ran.messages, _end(ran)]))
    return here.out.answer(
        fields_of(ran, *FIELDS), ok=ran.ok, warnings=[*output.warnings, *ran.warnings, *app.warnings]
    )


def session_of(
    place: Workplace, fire: Callable[[Event], Fired], context: PromptContext, recipe: Recipe, agent: str = ""
) -> AgentSession:
    """The session of a recipe, which gets its name and the tools that it allows.

    `agent` is the user's choice; "" means the recipe's, or else the project's.
    """
    tools = recipe.allowed_tools
    own = {"SAMUEL_RECIPE": recipe.name, **({} if tools is None else {TOOLS: "\n".join(tools)})}
    return AgentSession(place, fire, context, agent=agent or recipe.agent, recipe=recipe.name, own=own)


class _RecipeOutput(PlainDisplay):
    """Prints the agent's output as it comes, and nothing else on that stream."""

    raw = True

    def __init__(self, verbose: bool) -> None:
        super().__init__(verbose=verbose)
        self.warnings: list[str] = []

    def line(self, report: Report) -> str:
        if isinstance(report, LoopWarning):
            self.warnings.append(report.text)
        return ""


def _arguments(argument_texts: Sequence[str]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    for text in argument_texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"`--arg {text}` has no value", "write it like `--arg branch=main`")
        if name in arguments:
            raise UsageError(f"`--arg {name}` is given twice", "keep one of them")
        arguments[name] = value
    return arguments


def _refuse_what_cannot_start(app: App, agent: str, tell: Callable[[str], None]) -> None:
    """Report what would make the run fail before hooks are told that a session begins."""
    place = app.workplace
    refuse_without_plugins(app)
    refuse_without_agent(app, agent, tell)
    if why := place.refusal(commands.of_agent(agent, place.agents, place.root)):
        raise SamuelError(f"{why}, or `samuel recipe run --yes`")


def _end(ran: SessionResult) -> str:
    if ran.stopped:
        return f"stopped: {ran.stopped}"
    changed = f"; changed: {', '.join(ran.changed_files)}" if ran.changed_files else ""
    return f"{ran.recipe}: the agent ended with exit code {ran.exit_code}{changed}"
