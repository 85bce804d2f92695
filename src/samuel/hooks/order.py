"""The resolved chain of an event: a pure function of what was found and what samuel.toml says.

1. `handlers = [...]` is the whole chain, in that order. Only a guard of the user's own, from their home directory,
   cannot be left out: it runs first.
2. Without it: ascending order number; the built-in has 100, everything else 200 unless somebody gave it one.
3. At the same number: lower origin first, so the project has the last word; then by the name of the plugin or
   file they come with, then as declared there.
4. Two that were *given* the same number: the one nearer to the project, then the one declared later, replaces
   the other, with a warning. Those merely left at 200 all run, and one that cannot run replaces nobody. Nobody
   replaces a guard of the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeVar

from samuel.config.model import DEFAULT, REST, EventSettings, HandlerRef
from samuel.errors import Problem
from samuel.events import EventType
from samuel.events.compose import Arrange
from samuel.hooks.absent import Absent
from samuel.hooks.guards import closes, holds_everywhere
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Role


class ChainStep(NamedTuple):
    """One handler in its place, with the settings that hold there."""

    handler: Handler
    order: int | None  # None: `handlers` put it here
    strict: bool
    timeout: float
    why: str


class LeftOut(NamedTuple):
    """A handler of this event that does not run, and why."""

    handler: Handler
    why: str


class Chain(NamedTuple):
    event: EventType
    steps: tuple[ChainStep, ...]
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()  # of the warnings, those about names that stand for nobody


def resolve(
    event: EventType,
    found: Iterable[Handler],
    settings: EventSettings,
    file: str = "",
    *,
    everybody: Sequence[Handler] = (),
    let_go: Callable[[], Collection[str]] = tuple,
) -> Chain:
    """The chain of `event`. `found` may be in any order: the answer is the same.

    `everybody` are the handlers of all events, and `let_go` gives the names of what its owner removed: they tell
    why a name in samuel.toml stands for nobody.
    """
    known = sorted((one for one in found if one.event in (event.name, "")), key=_place)
    mine = [one for one in known if _takes_part(one, event)]
    problems: list[Problem] = []
    absent = Absent(event, file, _names(known), everybody, let_go)
    missing = [str(absent.in_order(key, settings.order_lines.get(key, 0))) for key in absent.among(settings.order)]
    warnings: list[str] = []

    replaced: dict[int, str] = {}  # why, by handler

    if settings.handlers is not None:
        steps = _as_listed(event, settings, known, mine, problems, absent, missing)
    else:
        steps = _by_number(event, settings, mine, warnings, replaced)

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
    left_out = tuple(LeftOut(one, replaced.get(id(one), unnamed)) for one in mine if id(one) not in running)
    return Chain(event, tuple(steps), left_out, (*missing, *warnings), tuple(problems), tuple(missing))


def _place(handler: Handler) -> tuple[int, str, int, str]:
    """Rule 3, and what makes the answer independent of the order of discovery."""
    return handler.origin, handler.key, handler.declared, handler.name


def _takes_part(handler: Handler, event: EventType) -> bool:
    # A hook that was trusted and has changed, or cannot be started, keeps its place: it is refused there, and
    # a guard's refusal denies. Leaving it out would turn a broken guard into no guard.
    if handler.event:
        return handler.status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN)
    return closes(handler, event)


# Rule 1


def _as_listed(
    event: EventType,
    settings: EventSettings,
    known: Sequence[Handler],
    mine: Sequence[Handler],
    problems: list[Problem],
    absent: Absent,
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
        meant = _meant(ref.use, event, known)
        if not meant and ref.use != DEFAULT:  # an event with no built-in has a no-op in its place
            problem = absent.in_handlers(ref)
            missing.append(str(problem))
            meant = absent.stand_in(ref, problem)
        for handler in meant:
            if id(handler) in named:
                problems.append(_twice(ref, event, handler, absent.file))
            named.add(id(handler))
            steps.append(_step(event, handler, settings, None, f"`handlers` names `{ref.use}`", ref))
    if rest_at is not None:
        rest = sorted(
            (one for one in mine if id(one) not in named), key=lambda one: _number(one, settings.order)[0]
        )
        steps[rest_at:rest_at] = [
            _step(event, one, settings, None, '`"..."` in `handlers` stands for it') for one in rest
        ]
        return steps
    own = [handler for handler in mine if id(handler) not in named and holds_everywhere(handler, event)]
    why = "a guard of your own, which `handlers` cannot leave out"
    return [*(_step(event, handler, settings, None, why) for handler in own), *steps]


def _meant(use: str, event: EventType, known: Sequence[Handler]) -> list[Handler]:
    """The handlers that an item of `handlers` names: one, or all that one owner has for this event."""
    if use == DEFAULT:
        return [one for one in known if one.origin is Origin.BUILT_IN and one.event == event.name]
    exact = [one for one in known if use == one.name]
    found = exact or [one for one in known if use in (one.owner, f"{one.owner}:{one.entry}", one.reference)]
    # An unasked file of that name is meant too: it is refused in its place rather than forgotten.
    found = found or [one for one in known if not one.event and use.startswith(f"{one.owner}:")]
    return [
        one for one in found if one.status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN)
    ]


# Rules 2 to 4


def _by_number(
    event: EventType,
    settings: EventSettings,
    mine: Sequence[Handler],
    warnings: list[str],
    replaced: dict[int, str],
) -> list[ChainStep]:
    placed = [_Placed(handler, *_number(handler, settings.order)) for handler in mine]
    slots: dict[int, tuple[str, list[_Placed]]] = {}
    for one in placed:  # in rule 3's order, so the later of two is the one that stays
        if not (one.key or one.handler.order is not None or one.handler.origin is Origin.BUILT_IN):
            continue  # nobody gave it this number
        if one.handler.status is not HandlerStatus.ACTIVE or holds_everywhere(one.handler, event):
            continue  # one is refused in its place, and whoever works there goes on working; the other always runs
        holder_key, holders = slots.get(one.number, ("", []))
        if one.key and one.key == holder_key:  # one line of samuel.toml may place several handlers: they all run
            holders.append(one)
            continue
        for loser in holders:
            replaced[id(loser.handler)] = f"`{one.handler.name}` was given the same order, {one.number}"
            warnings.append(_replacement(event, loser.handler, one.handler, one.number))
        slots[one.number] = (one.key, [one])
    ordered = sorted((one for one in placed if id(one.handler) not in replaced), key=attrgetter("number"))
    return [_step(event, one.handler, settings, one.number, _why_there(one)) for one in ordered]


class _Placed(NamedTuple):
    handler: Handler
    number: int
    key: str  # of `[hooks."<event>".order]`, if that is what gave it the number


def _number(handler: Handler, order: Mapping[str, int]) -> tuple[int, str]:
    """A handler's number, and the key of samuel.toml that gave it; the exact name before the owner's."""
    names = (DEFAULT,) if handler.origin is Origin.BUILT_IN else (handler.name, handler.reference, handler.owner)
    for key in names if order else ():
        if key in order:
            return order[key], key
    return handler.effective_order, ""


# Settings, and words for people


def _step(
    event: EventType,
    handler: Handler,
    settings: EventSettings,
    order: int | None,
    why: str,
    ref: HandlerRef | None = None,
) -> ChainStep:
    """Nearest word first: the `handlers` table, samuel.toml for the event, the handler, the catalogue."""
    asked = ref or _NO_REF
    # A guard that fails must deny, whatever is set for its event.
    must = handler.blocking or handler.role is Role.GUARD
    strict = must or _first(asked.strict, settings.strict, handler.strict, default=event.strict)
    timeout = _first(asked.timeout, settings.timeout, handler.timeout, default=event.timeout)
    return ChainStep(handler, order, strict, timeout, why)


_NO_REF = HandlerRef(use="")
T = TypeVar("T")


def _first(*given: T | None, default: T) -> T:
    for value in given:
        if value is not None:
            return value
    return default


def _why_there(placed: _Placed) -> str:
    handler, number, key = placed
    if not handler.event:
        return "it could not be asked which events it is for, so it closes this one"
    if key:
        return f"samuel.toml gives `{key}` order {number}"
    if handler.origin is Origin.BUILT_IN:
        return f"the built-in has order {number}"
    if handler.order is not None:
        return f"it asks for order {number}"
    return f"nobody gave it an order: {number}"


def _replacement(event: EventType, loser: Handler, winner: Handler, number: int) -> str:
    return (
        f"`{winner.name}` replaces `{loser.name}` on `{event.name}`: both were given order {number}. "
        f'To keep both, give one another number under [hooks."{event.name}".order] in samuel.toml'
    )


def _built_in_last(event: EventType, steps: Sequence[ChainStep], refs: Sequence[HandlerRef], file: str) -> Problem:
    """Whoever puts a handler in front of the built-in wants it to run, and here it would not."""
    names = ", ".join(f"`{step.handler.name}`" for step in steps[:-1])
    what = f"only the last handler of `{event.name}` runs: with `default` at the end, {names} would not"
    hint = f'name the one that should run: handlers = ["{steps[0].handler.name}"] or handlers = ["default"]'
    return Problem(what, file, refs[0].line, hint)


def _twice(ref: HandlerRef, event: EventType, handler: Handler, file: str) -> Problem:
    what = f"`handlers` of `{event.name}` names `{handler.name}` twice, the second time as `{ref.use}`"
    return Problem(what, file, ref.line, "keep one of the two")


def _names(known: Sequence[Handler]) -> set[str]:
    names = {name for one in known for name in (one.name, one.owner) if name}
    return {DEFAULT, *names, *(one.reference for one in known if one.package)}
