"""Whether a handler can run in the background: it is not awaited, and nothing depends on what it returns."""

from __future__ import annotations

from samuel.events import EventType
from samuel.hooks.handler import Role

HINT = "leave `background` out"


def background_refusal(
    event: EventType, role: Role | None = None, *, blocking: bool = False, strict: bool | None = None
) -> str:
    """Why a handler with these settings cannot run in the background on `event`; "" if it can."""
    if event.answer_counts:
        return f"the answer to `{event.name}` counts, so its handlers cannot run in the background"
    if role is Role.GUARD or blocking:
        return "a guard is waited for, so it cannot run in the background"
    if role is Role.REWRITE:
        return "what a handler with the role `rewrite` returns counts, so it cannot run in the background"
    if strict:
        return "a strict handler is waited for, so it cannot run in the background"
    return ""
