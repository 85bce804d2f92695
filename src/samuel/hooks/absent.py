"""Names in samuel.toml that stand for nobody: why, what to do, and what holds in their place.

A name alone never makes a command fail. An order for somebody absent changes nothing. A handler that `handlers`
names and nobody knows keeps its place and cannot run there, since it may have been a guard; one that its owner
removed or disabled is gone, by agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from samuel.config.model import DEFAULT, HandlerRef
from samuel.errors import Problem
from samuel.events import EventType
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.nearest import did_you_mean


class Absent(NamedTuple):
    """What is known about names that are no handlers of an event."""

    event: EventType
    file: str
    names: Collection[str]  # of those that are
    everybody: Sequence[Handler] = ()
    let_go: Callable[[], Collection[str]] = tuple

    def among(self, keys: Iterable[str]) -> Iterator[str]:
        return (key for key in keys if key not in self.names)

    def in_order(self, key: str, line: int) -> Problem:
        why, hint = self._reason(key)
        return Problem(f"`order` of `{self.event.name}` names `{key}`, {why}", self.file, line, hint)

    def in_handlers(self, ref: HandlerRef) -> Problem:
        why, hint = self._reason(ref.use)
        return Problem(f"`handlers` of `{self.event.name}` names `{ref.use}`, {why}", self.file, ref.line, hint)

    def stand_in(self, ref: HandlerRef, problem: Problem) -> list[Handler]:
        """What keeps the place of a handler that nobody knows: it cannot run, and as a guard it denies."""
        if self._is_gone(ref.use) or self._elsewhere(ref.use):
            return []
        return [
            Handler(
                name=ref.use,
                event=self.event.name,
                origin=Origin.PROJECT,
                runtime="exec",
                owner=ref.use,
                status=HandlerStatus.BROKEN,
                reason=str(problem),
            )
        ]

    def _reason(self, name: str) -> tuple[str, str]:
        """Why it stands for nobody, and what to do."""
        remove = "remove it from that line"
        if self._is_gone(name):
            return "which was removed", remove
        if other := self._elsewhere(name):
            if other.status in (HandlerStatus.DISABLED, HandlerStatus.SHADOWED):
                return f"which is {other.status}", other.reason or remove
            return "which does not answer to that event", remove
        names = sorted({*self.names, *_called(self.everybody)} - {DEFAULT})
        install = f"`samuel plugin install` gets the plugins of samuel.lock; otherwise {remove}"
        return "which is not there", did_you_mean(name, names, install)

    def _is_gone(self, name: str) -> bool:
        return any(name == one or name.startswith((f"{one}/", f"{one}:")) for one in self.let_go())

    def _elsewhere(self, name: str) -> Handler | None:
        """A handler that the name is about and that takes no part on this event: the nearest match first."""
        exact = (one for one in self.everybody if name in (one.name, one.owner, one.reference))
        # One hook of something that works may have been renamed or dropped, and nobody said that it was meant.
        idle = (one for one in self.everybody if one.status in (HandlerStatus.DISABLED, HandlerStatus.SHADOWED))
        part = (one for one in idle if one.owner and name.startswith((f"{one.owner}/", f"{one.owner}:")))
        return next(exact, None) or next(part, None)


def _called(handlers: Iterable[Handler]) -> Iterator[str]:
    return (name for one in handlers for name in (one.name, one.owner) if name)
