"""Names in samuel.toml that no handler of the event has: the reason, what to do, and what runs in their place.

A missing name never makes a command fail. In `order` it changes nothing. In `handlers` an unknown name keeps its
place in the chain and is refused there, since it may have been a guard; a handler that the user removed or
disabled is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from samuel.base.errors import Problem
from samuel.base.nearest import hint, nearest_path
from samuel.config.model import DEFAULT, HandlerRef
from samuel.events import EventType
from samuel.hooks.handler import Handler, HandlerStatus, Origin, unavailable


class MissingNames(msgspec.Struct, frozen=True):
    """Explains names that no handler of an event has."""

    event: EventType
    file: str
    handler_names: Collection[str]  # the names of all handlers of the event
    all_handlers: Sequence[Handler] = ()  # of all events
    removed_names: Callable[[], Collection[str]] = tuple  # of handlers that the user removed

    def missing(self, keys: Iterable[str]) -> Iterator[str]:
        """Those of `keys` that no handler of the event has."""
        return (key for key in keys if key not in self.handler_names)

    def problem_in_order(self, key: str, line: int) -> Problem:
        """The warning about a missing name in `order`."""
        why, hint = self._reason(key)
        return Problem(f"`order` of `{self.event.name}` names `{key}`, {why}", self.file, line, hint)

    def problem_in_handlers(self, ref: HandlerRef) -> Problem:
        """The warning about a missing name in `handlers`."""
        why, hint = self._reason(ref.use)
        return Problem(f"`handlers` of `{self.event.name}` names `{ref.use}`, {why}", self.file, ref.line, hint)

    def stand_in(self, ref: HandlerRef, problem: Problem) -> list[Handler]:
        """A broken handler in the place of an unknown one: on an event that can be denied, it denies."""
        if self._was_removed(ref.use) or self._handler_elsewhere(ref.use):
            return []
        broken = HandlerStatus.BROKEN
        return [unavailable(ref.use, Origin.PROJECT, broken, str(problem), event=self.event.name)]

    def _reason(self, name: str) -> tuple[str, str]:
        """Why no handler of the event has this name, and what to do."""
        remove = "remove it from that line"
        if self._was_removed(name):
            return "which was removed", remove
        if other := self._handler_elsewhere(name):
            if other.status in (HandlerStatus.DISABLED, HandlerStatus.SHADOWED):
                return f"which is {other.status}", other.reason or remove
            return "which does not handle that event", remove
        names = sorted({*self.handler_names, *_names(self.all_handlers)} - {DEFAULT})
        install = f"`samuel plugin install` gets the plugins of samuel.lock; otherwise {remove}"
        return "which was not found", hint(nearest_path(name, names), install)

    def _was_removed(self, name: str) -> bool:
        return any(
            name == removed or name.startswith((f"{removed}/", f"{removed}:")) for removed in self.removed_names()
        )

    def _handler_elsewhere(self, name: str) -> Handler | None:
        """The handler with this name that does not take part in this event; the best match, if any."""
        exact = (
            handler for handler in self.all_handlers if name in (handler.name, handler.owner, handler.reference)
        )
        # A hook of a plugin that works does not match here: it may have been renamed or dropped by mistake.
        idle = (
            handler
            for handler in self.all_handlers
            if handler.status in (HandlerStatus.DISABLED, HandlerStatus.SHADOWED)
        )
        part = (
            handler
            for handler in idle
            if handler.owner and name.startswith((f"{handler.owner}/", f"{handler.owner}:"))
        )
        return next(exact, None) or next(part, None)


def _names(handlers: Iterable[Handler]) -> Iterator[str]:
    return (name for handler in handlers for name in (handler.name, handler.owner) if name)
