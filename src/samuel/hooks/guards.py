"""Which handlers are guards: a guard that cannot be run closes its event, anybody else's absence is a warning.

On an event that can be denied every handler may deny, so all of them are guards there, except those whose role
says that they only rewrite or observe. Elsewhere a guard is what says so: `role = "guard"`, `blocking: true`.
"""

from __future__ import annotations

from samuel.events import EventType
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome, Role

NOT_RUN = (Outcome.NOT_STARTED, Outcome.REFUSED)
"""The outcomes of a handler that never got to see the event."""


def may_deny(event: EventType, role: Role | None, *, blocking: bool = False) -> bool:
    """Whether a handler of `event` that says this of itself is a guard."""
    return blocking or role is Role.GUARD or (event.composition.can_deny and role is None)


def is_guard(handler: Handler, event: EventType) -> bool:
    """Whether `handler` may be what keeps `event` from going through."""
    return may_deny(event, handler.role, blocking=handler.blocking)


def holds_everywhere(handler: Handler, event: EventType) -> bool:
    """Whether this is a guard of the user's own, which no samuel.toml of a clone can leave out or replace."""
    own = handler.origin in (Origin.USER, Origin.USER_PLUGIN)
    return own and event.composition.can_deny and is_guard(handler, event)


def closes(handler: Handler, event: EventType) -> bool:
    """Whether a handler of unknown events must be taken for a guard of `event`.

    A file that nobody could ask, or may ask yet, can be for any event. Where that could be a guard, it is one.
    """
    unavailable = handler.status in (HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN)
    return not handler.event and not handler.hookless and unavailable and is_guard(handler, event)
