"""Which hooks of a project have no effect in an agent, for a warning when the agent is connected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from samuel.cli.command_context import CommandContext
from samuel.clients.dialect.limits import LOST
from samuel.clients.dialect.support import support
from samuel.clients.table import CLIENTS
from samuel.events import EVENTS


class LostHandler(NamedTuple):
    client: str
    name: str
    event: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.client}: `{self.name}` on {self.event} has no effect: {self.why}; "
            f"`samuel hooks check --agent {self.client}` shows all hooks"
        )


def lost_handlers(here: CommandContext, clients: Sequence[str]) -> list[LostHandler]:
    """The handlers of session events whose answers these clients ignore, or whose events they never fire."""
    lost = []
    with here.open() as app:
        for event in (kind.name for kind in EVENTS if kind.family == "session"):
            for step in app.chains[event].steps:
                for client in clients:
                    verdict, why = support(CLIENTS[client], step.handler, event)
                    if verdict == LOST:
                        lost.append(LostHandler(client, step.handler.name, event, why))
    return lost
