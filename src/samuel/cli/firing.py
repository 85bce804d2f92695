"""Firing an event for the caller of a command: `emit`, or a call of an ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from samuel.cli.session import display

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.cli.command_context import CommandContext
    from samuel.dispatch.record import Fired
    from samuel.events import Event


def fire(here: CommandContext, app: App, event: Event) -> Fired:
    """Fire an event and print the messages of hooks; if it names a session, store their results there."""
    if event.session_id is UNSET:
        fired = app.fire(event)
        here.out.tell(*fired.messages)
        return fired
    recorded = app.session_recorder(here.confirm).fire(event.session_id, event)
    display.tell(here.out, recorded)
    return recorded.fired
