"""`samuel`: the table of commands."""

from __future__ import annotations

from pathlib import Path

import click

from samuel.cli.command_context import CommandContext
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.cli.output import Output
from samuel.version import __version__

COMMANDS = {
    "init": CommandEntry("samuel.cli.init:init", "Set up a project: samuel.toml and .samuel/."),
    "run": CommandEntry("samuel.cli.run:run", "Work a PRD to done, one task at a time."),
    "sync": CommandEntry("samuel.cli.sync:sync", "Keep AGENTS.md and its mirrors in step."),
    "hooks": CommandEntry("samuel.cli.hooks:hooks", "See, try and write hooks."),
    "emit": CommandEntry("samuel.cli.emit:emit", "Fire an event from any program."),
    "session": CommandEntry(
        "samuel.cli.session:session", "Work with an agent, step by step, and let hooks follow."
    ),
    "ability": CommandEntry("samuel.cli.ability:ability", "Find what can be done here, and do it."),
    "knowledge": CommandEntry("samuel.cli.knowledge:knowledge", "Find what is written down about something."),
    "recipe": CommandEntry("samuel.cli.recipe:recipe", "Prompts with arguments, run by name."),
    "skill": CommandEntry("samuel.cli.skill:skill", "What agents may read when a task calls for it."),
    "plugin": CommandEntry("samuel.cli.plugin:plugin", "Add what others wrote: hooks, skills and recipes."),
    "trust": CommandEntry("samuel.cli.trust:trust", "Decide what of a repository may run here."),
    "doctor": CommandEntry("samuel.cli.doctor:doctor", "Say what is wrong here, and what to do about it."),
}


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 ok, 1 the answer is no or it failed, 2 usage or configuration, 3 a bug in Samuel.",
)
@click.option(
    *("-C", "--project", "directory"),
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    metavar="DIR",
    help="Work on the project at or above DIR instead of the current directory.",
)
@click.version_option(__version__, message="samuel %(version)s")
@click.pass_context
def samuel(ctx: click.Context, directory: Path) -> None:
    """One hook system and one autonomous loop for every coding agent.

    \b
        samuel init
        samuel hooks new notify --event after:iteration --lang bash
        samuel hooks fire after:iteration
    """
    ctx.obj = CommandContext(directory, ctx.find_object(Output) or Output())
