"""`samuel knowledge`: the table of its commands, and where they find the knowledge of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel.base.errors import SamuelError
from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.cli.command_context import CommandContext
    from samuel.routing.knowledge.model import KnowledgeBase

COMMANDS = {
    "route": CommandEntry("Find the documents that fit a text or an intent, with the reasons."),
    "lint": CommandEntry("Check ROUTING.md and the documents it leads to."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def knowledge() -> None:
    """Find the documents to read for a task.

    \b
        samuel knowledge route "which checks run before a commit?"
    """


def base(here: CommandContext) -> KnowledgeBase:
    from samuel.routing.knowledge.indexes import (  # YAML, which other groups do without
        PLACES,
        find_root,
        read_base,
    )

    root = find_root(here.root)
    if root is None:
        places = ", ".join(f"`{place}/`" for place in PLACES if place)
        raise SamuelError("there is no ROUTING.md here", f"write one, in the project's root or in {places}")
    return read_base(root)
