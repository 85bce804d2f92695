"""Which handlers are guards: a guard that cannot run denies its event; another handler that cannot is a warning.

A guard declares it: `role = "guard"`, or `blocking: true`. What a YAML file or a manifest declares can be read
without running anything, so a handler that declares no role there is no guard, unless it once denied. A hook file
that cannot be asked what it is counts as a guard of every event that can be denied.
"""

from __future__ import annotations

from collections.abc import Iterable

from samuel.events import EventType
from samuel.hooks.handler import Handler, HandlerMode, HandlerStatus, Origin, Outcome, Role

NOT_RUN = (Outcome.NOT_STARTED, Outcome.REFUSED)
"""The outcomes of a handler that never saw the event."""


def may_deny(event: EventType, role: Role | None, *, blocking: bool = False) -> bool:
    """True if the answer of a handler of `event` with this role can deny."""
    return blocking or role is Role.GUARD or (event.composition.can_deny and role is None)


def declares_guard(handler: Handler) -> bool:
    """True if `handler` says that it is a guard."""
    return handler.blocking or handler.role is Role.GUARD


def is_guard(handler: Handler, event: EventType) -> bool:
    """True if `handler` is a guard of `event`, or may be one because it could not say what it is."""
    unclear = handler.role is None and not handler.can_declare_role
    return declares_guard(handler) or (event.composition.can_deny and unclear)


def can_become_guard(handler: Handler, event: EventType) -> bool:
    """True if `handler` declares no role where it could, so that only a denial shows that it is a guard."""
    return event.composition.can_deny and handler.role is None and not is_guard(handler, event)


def holds_everywhere(handler: Handler, event: EventType) -> bool:
    """True for a guard from the user's home directory, which no project's samuel.toml can leave out or replace."""
    own = handler.origin in (Origin.USER, Origin.USER_PLUGIN)
    return own and event.composition.can_deny and may_deny(event, handler.role, blocking=handler.blocking)


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


def with_new_guards(last: Iterable[Handler], now: Iterable[Handler]) -> list[Handler]:
    """The handlers as they were `last` trusted, and those that are guards according to what is there `now`."""
    guards = {(handler.event, handler.name): handler for handler in now if declares_guard(handler)}
    stay = [handler for handler in last if declares_guard(handler) or (handler.event, handler.name) not in guards]
    places = {(handler.event, handler.name) for handler in stay}
    return [*stay, *(guard for place, guard in guards.items() if place not in places)]


def hidden_guards(handlers: Iterable[Handler], event: EventType) -> list[str]:
    """A warning for each guard of `event` that another hook of the same name, or a clone's samuel.toml, hides."""
    return [
        f"`{handler.name}` of `{handler.package.directory if handler.package else handler.path}`, which may be a "
        f"guard, does not run on `{event.name}`: {handler.reason}"
        for handler in handlers
        if handler.event == event.name and _is_hidden(handler) and is_guard(handler, event)
    ]


def _is_hidden(handler: Handler) -> bool:
    own_plugin = handler.origin is Origin.USER_PLUGIN
    return handler.status is HandlerStatus.SHADOWED or (own_plugin and handler.status is HandlerStatus.DISABLED)
