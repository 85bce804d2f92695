"""Firing an event for whoever called the command: an orchestrator, or the script that runs abilities."""

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
    """Within the session that it names, if it names one: then what the hooks propose and suggest is kept."""
    if event.session_id is UNSET:
        fired = app.fire(event)
        here.out.tell(*fired.messages)
        return fired
    recorded = app.session_recorder(here.confirm).fire(event.session_id, event)
    display.tell(here.out, recorded)
    return recorded.fired
