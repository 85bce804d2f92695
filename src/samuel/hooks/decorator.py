"""`@samuel.hook` marks a function as a handler. It registers nothing: the code that loads the file finds the mark.

Every hook file imports this module, so it imports nothing that is slow to import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
MARK = "__samuel_hooks__"


class Declaration(NamedTuple):
    """The arguments of a decorator, for one event."""

    event: str
    order: int | None = None
    strict: bool | None = None
    timeout: str | None = None
    role: str | None = None
    mode: str | None = None
    serial: bool = False
    background: bool = False


def hook(
    *events: str,
    order: int | None = None,
    strict: bool | None = None,
    timeout: str | None = None,
    role: str | None = None,
    mode: str | None = None,
    serial: bool = False,
    background: bool = False,
) -> Callable[[F], F]:
    """Make a function a handler of one or more events, in any spelling of their names.

    The function is called with the event, whose fields are attributes, and returns a mapping or None. With
    `serial` it is never called in two lanes at once; with `background` it is not awaited, and what it returns is
    not used.
    """
    if not events or not all(isinstance(event, str) for event in events):
        raise TypeError('name at least one event: `@samuel.hook("context.extra")`')

    def mark(function: F) -> F:
        settings = (order, strict, timeout, role, mode, serial, background)
        declared = [Declaration(event, *settings) for event in events]
        setattr(function, MARK, [*getattr(function, MARK, []), *declared])
        return function

    return mark


def declarations(named: Iterable[tuple[str, Any]]) -> list[tuple[str, Callable[..., Any], Declaration]]:
    """The marked functions among `named` values, in the order in which they were defined."""
    return [
        (name, value, declared)
        for name, value in named
        if callable(value)
        for declared in getattr(value, MARK, ())
    ]
