"""Firing an event for the caller of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.emit import host

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.cli.command_context import CommandContext
    from samuel.dispatch.record import Fired
    from samuel.events import Event


def fire(here: CommandContext, app: App, event: Event) -> Fired:
    """Fire an event and print the messages of hooks; if it names a session, store their results there."""
    fired, follow_ups = host.fire(app, event, here.confirm)
    here.out.tell(*fired.messages, *follow_ups)
    return fired
