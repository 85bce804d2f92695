"""`samuel`: the table of commands."""

from __future__ import annotations

from pathlib import Path

import click

from samuel.cli.command_context import CommandContext
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.cli.output import Output
from samuel.version import __version__

COMMANDS = {
    "init": CommandEntry("Set up a project: samuel.toml and .samuel/."),
    "run": CommandEntry("Run an agent in a loop on the tasks of a PRD."),
    "dashboard": CommandEntry("Show the runs of all your projects in the browser."),
    "verify": CommandEntry("Run the checks of a receipt again and compare."),
    "attempt": CommandEntry("Do one attempt at a task for a coordinator on another machine."),
    "mcp": CommandEntry("Show the run to a chat client, over the Model Context Protocol."),
    "fleet": CommandEntry("Check, show, drain and prune the machines on which agents work."),
    "sync": CommandEntry("Write AGENTS.md and copy it to the files other agents read."),
    "hooks": CommandEntry("List, explain, test and write hooks."),
    "bridge": CommandEntry("Connect the hooks of coding agents to Samuel."),
    "emit": CommandEntry("Fire an event from any program or agent."),
    "serve": CommandEntry("Answer `samuel emit` from a process that stays."),
    "bench": CommandEntry("Measure what a hook call costs in this project."),
    "session": CommandEntry("Record an agent session and fire its events."),
    "ability": CommandEntry("Find and run the abilities in the project's registry."),
    "knowledge": CommandEntry("Find the documents to read for a task."),
    "recipe": CommandEntry("List and run prompts with arguments."),
    "skill": CommandEntry("List the SKILL.md files offered to agents."),
    "plugin": CommandEntry("Install and manage plugins: hooks, skills and recipes."),
    "agents": CommandEntry("List the agents and which of them are installed."),
    "trust": CommandEntry("Review and trust what a repository wants to run."),
    "schema": CommandEntry("Print the JSON Schema of samuel.toml."),
    "doctor": CommandEntry("Check the project and this machine, and say how to fix problems."),
}


@click.group(
    cls=LazyGroup,
    package="samuel.cli",
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 ok, 1 failed or denied, 2 wrong usage or configuration, 3 a bug in Samuel.",
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
