"""Which handlers are guards: a guard that cannot run denies its event; another handler that cannot is a warning.

On an event that can be denied every handler may deny, so all of them are guards there, except those whose role is
to rewrite or to observe. On other events a handler is a guard only with `role = "guard"` or `blocking: true`.
"""

from __future__ import annotations

from samuel.events import EventType
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome, Role
from samuel.hooks.mode import HandlerMode

NOT_RUN = (Outcome.NOT_STARTED, Outcome.REFUSED)
"""The outcomes of a handler that never saw the event."""


def may_deny(event: EventType, role: Role | None, *, blocking: bool = False) -> bool:
    """True if a handler of `event` with this role is a guard."""
    return blocking or role is Role.GUARD or (event.composition.can_deny and role is None)


def is_guard(handler: Handler, event: EventType) -> bool:
    """True if `handler` may deny `event`."""
    return may_deny(event, handler.role, blocking=handler.blocking)


def holds_everywhere(handler: Handler, event: EventType) -> bool:
    """True for a guard from the user's home directory, which no project's samuel.toml can leave out or replace."""
    own = handler.origin in (Origin.USER, Origin.USER_PLUGIN)
    return own and event.composition.can_deny and is_guard(handler, event)


def effective_mode(handler: Handler, event: EventType, configured: str) -> HandlerMode:
    """The mode of a handler: `configured` in samuel.toml, or its own where that is "".

    A project cannot turn a guard from the user's home directory off, so it cannot have it observed either.
    """
    if not configured or (configured == HandlerMode.OBSERVE and holds_everywhere(handler, event)):
        return handler.mode
    return HandlerMode(configured)


def closes(handler: Handler, event: EventType) -> bool:
    """True if a handler whose events are unknown must be treated as a guard of `event`.

    A hook file that cannot be asked for its events, or may not be asked yet, can be for any event.
    """
    unavailable = handler.status in (HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN)
    return not handler.event and not handler.hookless and unavailable and is_guard(handler, event)
