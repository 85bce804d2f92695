"""The resolved chain of an event: a pure function of the handlers found and of samuel.toml.

1. `handlers = [...]` is the whole chain, in that order. Only a guard from the user's home directory cannot be left
   out: it runs first.
2. Without `handlers`: ascending order number. The built-in has 100; every other handler has 200 unless its
   manifest, its file, its decorator or samuel.toml sets another.
3. At the same number: lower origin first, so that the project has the last word; then by the name of the plugin or
   file that a handler comes with, then in the order of declaration.
4. Of two handlers for which the same number was *set*, the one nearer to the project, then the one declared later,
   replaces the other, with a warning. Handlers with the default 200 all run, a handler that cannot run does not
   replace another, and a guard from the user's home directory is never replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TypeVar

import msgspec

from samuel.base.errors import Problem
from samuel.config.model import DEFAULT, REST, EventSettings, HandlerRef
from samuel.events import EventType
from samuel.events.compose import Arrange
from samuel.hooks.guards import closes, effective_mode, hidden_guards, holds_everywhere
from samuel.hooks.handler import (
    BACKGROUND_HINT,
    Handler,
    HandlerMode,
    HandlerStatus,
    Origin,
    Role,
    background_refusal,
    observation_refusal,
)
from samuel.hooks.missing_names import MissingNames


class ChainStep(msgspec.Struct, frozen=True):
    """A handler at its position in the chain, with its settings there."""

    handler: Handler
    order: int | None  # None: `handlers` put it here
    strict: bool
    timeout: float
    why: str
    mode: HandlerMode = HandlerMode.ENFORCE
    serial: bool = False  # it never runs in two lanes at once
    background: bool = False  # its answer is not awaited


class LeftOut(msgspec.Struct, frozen=True):
    """A handler of this event that does not run, and why."""

    handler: Handler
    why: str


class Chain(msgspec.Struct, frozen=True):
    """The handlers that run on an event, in order, and what was decided about the others."""

    event: EventType
    steps: tuple[ChainStep, ...]
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()  # those of the warnings that are about names in samuel.toml that no handler has


def resolve(
    event: EventType,
    handlers: Iterable[Handler],
    settings: EventSettings,
    file: str = "",
    *,
    all_handlers: Sequence[Handler] = (),
    removed_names: Callable[[], Collection[str]] = tuple,
) -> Chain:
    """The chain of `event`. It does not depend on the order of `handlers`.

    `all_handlers` (those of all events) and `removed_names` (of handlers that the user removed) only serve to
    explain names in samuel.toml that no handler of the event has.
    """
    candidates = sorted((handler for handler in handlers if handler.event in (event.name, "")), key=_sort_key)
    participants = [handler for handler in candidates if _takes_part(handler, event)]
    problems: list[Problem] = []
    missing_names = MissingNames(event, file, _names(candidates), all_handlers, removed_names)
    missing = [
        str(missing_names.problem_in_order(key, settings.order_lines.get(key, 0)))
        for key in missing_names.missing(settings.order)
    ]
    warnings: list[str] = hidden_guards(candidates, event)

    replaced: dict[int, str] = {}  # why, by handler

    if settings.handlers is not None:
        steps = _listed_chain(
            event, settings, candidates, participants, problems, warnings, missing_names, missing
        )
    else:
        steps = _numbered_chain(event, settings, participants, warnings, replaced)

    if event.composition.arrange is Arrange.LAST_ONLY and len(steps) > 1:
        last = steps[-1].handler
        if settings.handlers and last.origin is Origin.BUILT_IN:
            problems.append(_built_in_last(event, steps, settings.handlers, file))
        names = ", ".join(f"`{step.handler.name}`" for step in steps[:-1])
        warnings.append(f"only the last handler of `{event.name}` runs: `{last.name}` replaces {names}")
        why = f"only the last handler of `{event.name}` runs, and that is `{last.name}`"
        replaced |= {id(step.handler): why for step in steps[:-1]}
        steps = steps[-1:]

    running = {id(step.handler) for step in steps}
    unnamed = "`handlers` in samuel.toml does not name it"
    left_out = tuple(
        LeftOut(handler, replaced.get(id(handler), unnamed))
        for handler in participants
        if id(handler) not in running
    )
    return Chain(event, tuple(steps), left_out, (*missing, *warnings), tuple(problems), tuple(missing))


def _sort_key(handler: Handler) -> tuple[int, str, int, str]:
    """Rule 3; sorting by it also makes the chain independent of the order of discovery."""
    return handler.origin, handler.key, handler.declared, handler.name


def _takes_part(handler: Handler, event: EventType) -> bool:
    # A hook that was trusted and has changed, or that cannot be started, stays in the chain and is refused there;
    # a refused guard denies. Leaving it out would remove a guard because it is broken.
    if handler.event:
        return handler.status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN)
    return closes(handler, event)


# Rule 1


def _listed_chain(
    event: EventType,
    settings: EventSettings,
    candidates: Sequence[Handler],
    participants: Sequence[Handler],
    problems: list[Problem],
    warnings: list[str],
    missing_names: MissingNames,
    missing: list[str],
) -> list[ChainStep]:
    steps: list[ChainStep] = []
    rest_at: int | None = None
    named: set[int] = set()
    assert settings.handlers is not None
    for ref in settings.handlers:
        if ref.use == REST:
            rest_at = len(steps)
            continue
        observed = ref.mode == HandlerMode.OBSERVE
        if observed and (why := observation_refusal(event)):
            problems.append(Problem(why, missing_names.file, ref.line, "leave `mode` out"))
        named_handlers = _named_handlers(ref.use, event, candidates)
        if not named_handlers and ref.use != DEFAULT:  # `default` of an event without a built-in does nothing
            problem = missing_names.problem_in_handlers(ref)
            missing.append(str(problem))
            named_handlers = missing_names.stand_in(ref, problem)
        for handler in named_handlers:
            if id(handler) in named:
                problems.append(_twice(ref, event, handler, missing_names.file))
            if observed and holds_everywhere(handler, event):
                warnings.append(
                    f"`{handler.name}` is a guard of your own, so `mode` in samuel.toml cannot turn it off"
                )
            if ref.background and (why := _background_refusal(event, handler, ref)):
                problems.append(Problem(f"`{handler.name}`: {why}", missing_names.file, ref.line, BACKGROUND_HINT))
            named.add(id(handler))
            steps.append(_step(event, handler, settings, None, f"`handlers` names `{ref.use}`", ref))
    if rest_at is not None:
        rest = sorted(
            (handler for handler in participants if id(handler) not in named),
            key=lambda handler: _number(handler, settings.order)[0],
        )
        steps[rest_at:rest_at] = [
            _step(event, handler, settings, None, '`"..."` in `handlers` stands for it') for handler in rest
        ]
        return steps
    own = [handler for handler in participants if id(handler) not in named and holds_everywhere(handler, event)]
    why = "a guard of your own, which `handlers` cannot leave out"
    return [*(_step(event, handler, settings, None, why) for handler in own), *steps]


def _named_handlers(use: str, event: EventType, candidates: Sequence[Handler]) -> list[Handler]:
    """The handlers that an item of `handlers` names: a single one, or all of an owner for this event."""
    if use == DEFAULT:
        return [
            handler
            for handler in candidates
            if handler.origin is Origin.BUILT_IN and handler.event == event.name and handler.name == DEFAULT
        ]
    exact = [handler for handler in candidates if use == handler.name]
    matching = exact or [
        handler
        for handler in candidates
        if use in (handler.owner, f"{handler.owner}:{handler.entry}", handler.reference)
    ]
    # So does a hook file whose events are unknown: it is refused in its place rather than left out.
    matching = matching or [
        handler for handler in candidates if not handler.event and use.startswith(f"{handler.owner}:")
    ]
    return [
        handler
        for handler in matching
        if handler.status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN)
    ]


# Rules 2 to 4


def _numbered_chain(
    event: EventType,
    settings: EventSettings,
    participants: Sequence[Handler],
    warnings: list[str],
    replaced: dict[int, str],
) -> list[ChainStep]:
    numbered = [_NumberedHandler(handler, *_number(handler, settings.order)) for handler in participants]
    slots: dict[int, tuple[str, list[_NumberedHandler]]] = {}
    for numbered_handler in numbered:  # in the order of rule 3, so the later of two stays
        if not (
            numbered_handler.key
            or numbered_handler.handler.order is not None
            or numbered_handler.handler.origin is Origin.BUILT_IN
        ):
            continue  # it has the default number
        if numbered_handler.handler.status is not HandlerStatus.ACTIVE or holds_everywhere(
            numbered_handler.handler, event
        ):
            continue  # a handler that cannot run replaces no other; a guard of the user is never replaced
        holder_key, holders = slots.get(numbered_handler.number, ("", []))
        if (
            numbered_handler.key and numbered_handler.key == holder_key
        ):  # handlers that one line of samuel.toml places all run
            holders.append(numbered_handler)
            continue
        for loser in holders:
            replaced[id(loser.handler)] = (
                f"`{numbered_handler.handler.name}` was given the same order, {numbered_handler.number}"
            )
            warnings.append(_replacement(event, loser.handler, numbered_handler.handler, numbered_handler.number))
        slots[numbered_handler.number] = (numbered_handler.key, [numbered_handler])
    ordered = sorted(
        (numbered_handler for numbered_handler in numbered if id(numbered_handler.handler) not in replaced),
        key=attrgetter("number"),
    )
    return [
        _step(
            event, numbered_handler.handler, settings, numbered_handler.number, _reason_for_place(numbered_handler)
        )
        for numbered_handler in ordered
    ]


class _NumberedHandler(msgspec.Struct, frozen=True):
    """A handler with its order number."""

    handler: Handler
    number: int
    key: str  # of `[hooks."<event>".order]`, if that set the number; else ""


def _number(handler: Handler, order: Mapping[str, int]) -> tuple[int, str]:
    """A handler's number, and the key of samuel.toml that set it; the exact name wins over the owner's."""
    is_built_in = handler.origin is Origin.BUILT_IN
    names = (handler.name,) if is_built_in else (handler.name, handler.reference, handler.owner)
    for key in names if order else ():
        if key in order:
            return order[key], key
    return handler.effective_order, ""


# Settings, and messages


def _step(
    event: EventType,
    handler: Handler,
    settings: EventSettings,
    order: int | None,
    why: str,
    ref: HandlerRef | None = None,
) -> ChainStep:
    """The step of a handler. Its settings come from `handlers`, the event's table, the handler, the catalogue."""
    overrides = ref or _NO_REF
    # A guard that fails must deny, whatever is set for its event.
    always_strict = handler.blocking or handler.role is Role.GUARD
    background = _first(overrides.background, default=handler.background)
    # A handler in the background is not awaited, so its faults stop nothing.
    strict = always_strict or (
        not background and _first(overrides.strict, settings.strict, handler.strict, default=event.strict)
    )
    timeout = _first(overrides.timeout, settings.timeout, handler.timeout, default=event.timeout)
    mode = effective_mode(handler, event, overrides.mode)
    serial = overrides.serial or handler.serial
    return ChainStep(handler, order, strict, timeout, why, mode, serial, background)


_NO_REF = HandlerRef(use="")
T = TypeVar("T")


def _first(*values: T | None, default: T) -> T:
    for value in values:
        if value is not None:
            return value
    return default


def _reason_for_place(numbered: _NumberedHandler) -> str:
    handler, number = numbered.handler, numbered.number
    if not handler.event:
        return "it could not be asked for its events, so it counts as a guard of this one"
    if numbered.key:
        return f"samuel.toml gives `{numbered.key}` order {number}"
    if handler.origin is Origin.BUILT_IN and handler.name == DEFAULT:
        return f"the built-in has order {number}"
    if handler.order is not None:
        return f"it asks for order {number}"
    return f"it has the default order {number}"


def _replacement(event: EventType, loser: Handler, winner: Handler, number: int) -> str:
    return (
        f"`{winner.name}` replaces `{loser.name}` on `{event.name}`: both were given order {number}. "
        f'To keep both, give one another number under [hooks."{event.name}".order] in samuel.toml'
    )


def _built_in_last(event: EventType, steps: Sequence[ChainStep], refs: Sequence[HandlerRef], file: str) -> Problem:
    """The problem of a list that ends with the built-in: the handlers before it would never run."""
    names = ", ".join(f"`{step.handler.name}`" for step in steps[:-1])
    what = f"only the last handler of `{event.name}` runs: with `default` at the end, {names} would not"
    hint = f'name the one that should run: handlers = ["{steps[0].handler.name}"] or handlers = ["default"]'
    return Problem(what, file, refs[0].line, hint)


def _background_refusal(event: EventType, handler: Handler, ref: HandlerRef) -> str:
    if handler.origin is Origin.BUILT_IN:
        return "the built-in handler is waited for, so it cannot run in the background"
    return background_refusal(event, handler.role, blocking=handler.blocking, strict=ref.strict)


def _twice(ref: HandlerRef, event: EventType, handler: Handler, file: str) -> Problem:
    what = f"`handlers` of `{event.name}` names `{handler.name}` twice, the second time as `{ref.use}`"
    return Problem(what, file, ref.line, "keep one of the two")


def _names(candidates: Sequence[Handler]) -> set[str]:
    names = {name for handler in candidates for name in (handler.name, handler.owner) if name}
    return {DEFAULT, *names, *(handler.reference for handler in candidates if handler.package)}
