"""`samuel session`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "start": CommandEntry("samuel.cli.session.start:start", "Begin a session."),
    "prompt": CommandEntry("samuel.cli.session.prompt:prompt", "Tell the hooks what the person asked for."),
    "stop": CommandEntry(
        "samuel.cli.session.stop:stop", "Tell the hooks that work has stopped, and what it changed."
    ),
    "end": CommandEntry("samuel.cli.session.end:end", "End a session."),
    "do": CommandEntry("samuel.cli.session.do:do", "Do what hooks proposed, or drop it."),
    "list": CommandEntry("samuel.cli.session.list:list_", "List the sessions there were."),
    "show": CommandEntry("samuel.cli.session.show:show", "Show what a session has gathered."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def session() -> None:
    """Work with an agent, step by step, and let hooks follow.

    \b
        samuel session start
        samuel session prompt "Run the billing regression tests"
    """
