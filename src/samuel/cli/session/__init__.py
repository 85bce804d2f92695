"""`samuel session`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import Entry, LazyGroup

COMMANDS = {
    "start": Entry("samuel.cli.session.start:start", "Begin a session."),
    "prompt": Entry("samuel.cli.session.prompt:prompt", "Tell the hooks what the person asked for."),
    "stop": Entry("samuel.cli.session.stop:stop", "Tell the hooks that work has stopped, and what it changed."),
    "end": Entry("samuel.cli.session.end:end", "End a session."),
    "do": Entry("samuel.cli.session.do:do", "Do what hooks proposed, or drop it."),
    "list": Entry("samuel.cli.session.list:list_", "List the sessions there were."),
    "show": Entry("samuel.cli.session.show:show", "Show what a session has gathered."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def session() -> None:
    """Work with an agent, step by step, and let hooks follow.

    \b
        samuel session start
        samuel session prompt "Run the billing regression tests"
    """
