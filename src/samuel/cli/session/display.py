"""The result of an event of a session, as text and as plain data."""

from __future__ import annotations

import msgspec

from samuel.app import App
from samuel.cli.command_context import CommandContext
from samuel.sessions.follow_up import describe
from samuel.sessions.recorder import RecordedEvent
from samuel.sessions.session import Session


def hints(session: Session) -> list[str]:
    """The suggestions of hooks for routing, a line each."""
    named = [("ability", "id", suggestion) for suggestion in session.suggestions]
    named += [("document", "path", document) for document in session.documents]
    lines = [f"{kind} `{hint[key]}`: {hint.get('reason') or 'no reason given'}" for kind, key, hint in named]
    return [*lines, f"intent `{session.intent['intent']}`"] if session.intent else lines


def answer(here: CommandContext, app: App, recorded: RecordedEvent, done: str) -> int:
    """Print the result of a session command; returns 1 if a hook stopped it."""
    fired, session = recorded.fired, recorded.session
    here.out.tell(*fired.messages, *map(describe, recorded.follow_ups))
    data = {
        "session": session.id,
        "state": session.state,
        "ok": not fired.stopped,
        "reason": fired.reason,
        "result": msgspec.to_builtins(fired.result),
        "follow_ups": [msgspec.to_builtins(follow_up) for follow_up in recorded.follow_ups],
    }
    text = f"stopped: {fired.reason}" if fired.stopped else done
    warnings = [*fired.warnings, *app.unasked_hooks(fired), *app.warnings]
    return here.out.answer(data, text, ok=not fired.stopped, warnings=warnings)
