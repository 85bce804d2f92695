"""Calling the handlers of an event: the one place where that happens.

`fire` reads top to bottom: stamp the event, call the chain in the way its composition asks for, compose,
judge. The dispatcher is given everything it uses; it discovers nothing and nothing in it is global.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from samuel.clock import Clock, iso
from samuel.dispatch import budget
from samuel.dispatch.event_run import EventRun, understood, unusable, without_rewrite
from samuel.dispatch.judge import judge
from samuel.dispatch.record import Fired, HandlerCall, Sink
from samuel.events import Event, EventType, Plugin
from samuel.events.catalogue import BY_PAYLOAD
from samuel.events.compose import Arrange
from samuel.hooks.capability import overreach
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome, Role
from samuel.hooks.match import holds
from samuel.hooks.order import Chain, ChainStep
from samuel.hooks.package import Package
from samuel.process.tree import kill_all
from samuel.runtimes.base import Reply, Runtime

PermitCheck = Callable[[Handler], str]  # "" or the reason why the handler may not run
AskUser = Callable[[str], bool]  # puts a question to a person

# Bound once: looking a member up on its enum costs as much as the rest of a comparison.
OK, LAST_ONLY = Outcome.OK, Arrange.LAST_ONLY
UNAVAILABLE = {HandlerStatus.UNTRUSTED: Outcome.REFUSED, HandlerStatus.BROKEN: Outcome.NOT_STARTED}


class ProjectFields(NamedTuple):
    """What every event of one project has in common."""

    project_root: str
    methodology: str
    data_dir: Callable[[str], str]
    prompt_bytes: int
    environment: str = ""
    recipe: str = ""
    """The recipe that this process was started in."""


class _BoundHandler(msgspec.Struct, frozen=True):
    """A step of a chain with all that does not change between events."""

    handler: Handler
    name: str
    run: Callable[[Event], Reply]
    plugin: Plugin
    position: int
    strict: bool
    deadline_ms: int
    budget: float  # bytes it may add to the prompt; built-ins keep themselves short
    package: Package | None


class Dispatcher:
    def __init__(
        self,
        *,
        chains: Mapping[str, Chain],
        runtimes: Mapping[str, Runtime],
        permit: PermitCheck,
        sink: Sink,
        clock: Clock,
        place: ProjectFields,
        ask: AskUser | None = None,
    ) -> None:
        self._chains = chains
        self._permit = permit
        self._sink = sink
        self._clock = clock
        self._monotonic = clock.monotonic
        self._place = place
        self._ask = ask
        self._runtimes = runtimes
        self._seats: dict[str, tuple[_BoundHandler, ...]] = {}
        self._filtered = {name for name, chain in chains.items() if any(s.handler.match for s in chain.steps)}
        self._threads: ThreadPoolExecutor | None = None

    def fire(self, event: Event) -> Fired:
        """Call everyone who answers to `event`, in the resolved order, and compose what they say."""
        kind = BY_PAYLOAD[type(event)]
        started = self._monotonic()
        event = self._stamp(event)
        self._sink.begin(event)
        told = EventRun(kind, event)
        seats = self._seated(kind.name)
        if kind.name in self._filtered:
            seats = _interested(seats, event)
        _ARRANGED[kind.composition.arrange](self, told, seats)
        result = told.composed if told.composed is not None else kind.composition.empty
        fired = judge(kind, told.event, result, told.calls, self._chains[kind.name].warnings, self._ask)
        self._sink.end(event, fired, (self._monotonic() - started) * 1000)
        return fired

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    # The four ways to call a chain

    def _in_turn(self, told: EventRun, seats: Sequence[_BoundHandler]) -> None:
        for seat in seats:
            told.take(self._call(seat, told, told.event))

    def _last_only(self, told: EventRun, seats: Sequence[_BoundHandler]) -> None:
        self._in_turn(told, seats[-1:])

    def _together(self, told: EventRun, seats: Sequence[_BoundHandler]) -> None:
        if len(seats) < 2:
            self._in_turn(told, seats)
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="samuel-handler")
        try:
            # Whoever finishes first, the answers are taken in chain order.
            calls = list(self._threads.map(lambda seat: self._call(seat, told, told.event), seats))
        except BaseException:
            # Ctrl-C reaches this thread alone; the others wait for processes that must end now.
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None
            kill_all()
            raise
        told.take_all(calls)

    def _rewrite_then_guard(self, told: EventRun, seats: Sequence[_BoundHandler]) -> None:
        """Rewriters first; then everyone who has not seen the final input judges it."""
        judged: dict[int, HandlerCall] = {}
        last_rewrite = 0
        for seat in seats:
            if seat.handler.role in (Role.GUARD, Role.OBSERVE):
                continue
            before = told.event
            judged[seat.position] = told.take(self._call(seat, told, told.event))
            if told.event is not before:
                last_rewrite = seat.position

        final = replace(told.event, phase="guard")
        for seat in seats:
            seen = judged.get(seat.position)
            if seen and (seat.handler.role is Role.REWRITE or seat.position >= last_rewrite):
                continue
            call = without_rewrite(self._call(seat, told, final), told.kind)
            told.calls.append(call)
            # A denial of an earlier input stands: a later rewrite is no reason to forget it.
            if not (seen and seen.outcome is Outcome.DENIED):
                judged[seat.position] = call
        told.settle([judged[position] for position in sorted(judged)])

    # One call

    def _call(self, seat: _BoundHandler, told: EventRun, event: Event) -> HandlerCall:
        """Show the event to one handler: run it, understand what it says, record it."""
        shown = replace(
            event,
            deadline_ms=seat.deadline_ms,
            plugin=seat.plugin,
            previous=UNSET if told.composed is None else told.composed,
            idempotency_key=f"{told.key}/{seat.name}",
        )
        if event.recipe_name and seat.package is not None:
            # A plugin's hooks were written beside its recipes, and know them by the names of their files.
            shown = replace(shown, recipe_name=event.recipe_name.removeprefix(f"{seat.package.name}/"))
        monotonic = self._monotonic
        started = monotonic()
        reply = seat.run(shown)
        duration_ms = (monotonic() - started) * 1000
        # No opinion is an answer, except where there is only one handler and its answer is needed.
        if reply.outcome is OK and (reply.result or told.kind.composition.arrange is LAST_ONLY):
            reply = understood(told.kind, reply)
            if seat.package is not None and (why := overreach(event, reply.result, seat.package.grants)):
                reply = Reply(Outcome.REFUSED, message=why, stderr=reply.stderr)
            elif reply.size > seat.budget:
                reply = budget.keep(reply, told.composed, seat.budget)
        elif reply.outcome is not OK and reply.result:
            reply = unusable(told.kind, reply)
        call = HandlerCall(
            seat.handler,
            seat.position,
            reply.outcome,
            duration_ms,
            seat.strict,
            reply.result,
            reply.message,
            reply.stderr,
            "" if event.phase is UNSET else event.phase,
        )
        self._sink.called(event, call)
        return call

    def _runner(self, step: ChainStep) -> Callable[[Event], Reply]:
        """What it takes to run one handler: nothing but a word if it cannot run, a permit each time if it can."""
        handler, timeout, permit = step.handler, step.timeout, self._permit
        runtime = self._runtimes.get(handler.runtime)
        if handler.status is not HandlerStatus.ACTIVE:
            unavailable = Reply(UNAVAILABLE[handler.status], message=handler.reason)
            return lambda event: unavailable
        if runtime is None:
            missing = f"no runtime `{handler.runtime}` on this machine"
            return lambda event: Reply(Outcome.NOT_STARTED, message=missing)

        call = runtime.call
        if handler.function is not None:  # it came with this process: there is nobody to ask, and nothing to kill
            return lambda event: call(handler, event, timeout)

        def run(event: Event) -> Reply:
            if refusal := permit(handler):
                return Reply(Outcome.REFUSED, message=refusal)
            try:
                return call(handler, event, timeout)
            except Exception as error:  # noqa: BLE001  a fault of a runtime must not end what fired the event
                return Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}")

        return run

    # Preparation

    def _stamp(self, event: Event) -> Event:
        recipe = event.recipe_name if event.recipe_name is not UNSET else self._place.recipe or UNSET
        return replace(
            event,
            recipe_name=recipe,
            recipe_full_name=recipe or UNSET,
            event_id=event.event_id or self._clock.new_id("evt"),
            timestamp=event.timestamp or iso(self._clock.now()),
            project_root=self._place.project_root,
            methodology=event.methodology or self._place.methodology,
            environment=self._place.environment or UNSET,
        )

    def _seated(self, name: str) -> tuple[_BoundHandler, ...]:
        """The chain of an event, made ready the first time it is fired."""
        seats = self._seats.get(name)
        if seats is None:
            chain = self._chains[name]
            seats = tuple(self._seat(chain.event, step, at) for at, step in enumerate(chain.steps, start=1))
            self._seats[name] = seats
        return seats

    def _seat(self, kind: EventType, step: ChainStep, position: int) -> _BoundHandler:
        # One that could not be asked for its events is called for this one: that is what is recorded of it.
        handler = step.handler if step.handler.event else replace(step.handler, event=kind.name)
        limited = kind.adds_to_prompt and handler.origin is not Origin.BUILT_IN
        return _BoundHandler(
            handler,
            handler.name,
            self._runner(step),
            Plugin(handler.key, handler.config, self._place.data_dir(handler.key)),
            position,
            step.strict,
            int(step.timeout * 1000),
            self._place.prompt_bytes if limited else math.inf,
            handler.package,
        )


def _interested(seats: Sequence[_BoundHandler], event: Event) -> tuple[_BoundHandler, ...]:
    """Without those whose `match` does not hold: they are not called, and nothing is recorded of them."""

    def said(name: str) -> object:
        value = getattr(event, name, None)
        return None if value is UNSET else value

    return tuple(seat for seat in seats if holds(seat.handler.match, said))


_ARRANGED: Mapping[Arrange, Callable[[Dispatcher, EventRun, Sequence[_BoundHandler]], None]] = {
    Arrange.IN_TURN: Dispatcher._in_turn,
    Arrange.LAST_ONLY: Dispatcher._last_only,
    Arrange.TOGETHER: Dispatcher._together,
    Arrange.REWRITE_THEN_GUARD: Dispatcher._rewrite_then_guard,
}
