"""Calling the handlers of an event: the one place where that happens.

`fire` reads top to bottom: stamp the event, call the chain in the way its composition asks for, compose,
judge. The dispatcher is given everything it uses; it discovers nothing and nothing in it is global.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.clock import Clock, iso
from samuel.dispatch import budget
from samuel.dispatch.judge import judge
from samuel.dispatch.record import Call, Fired, Sink
from samuel.events import Event, EventType, LoopEvent, Plugin
from samuel.events.catalogue import BY_PAYLOAD
from samuel.events.compose import Answer, Arrange, verdict
from samuel.hooks.handler import Handler, Outcome, Role, Status
from samuel.hooks.order import Chain, Step
from samuel.runtimes.base import Reply, Runtime

Permit = Callable[[Handler], str]  # "" or the reason why the handler may not run
Ask = Callable[[str], bool]  # puts a question to a person

UNAVAILABLE = {Status.UNTRUSTED: Outcome.REFUSED, Status.BROKEN: Outcome.NOT_STARTED}


class Place(NamedTuple):
    """What every event of one project has in common."""

    project_root: str
    methodology: str
    data_dir: Callable[[str], str]
    prompt_bytes: int


class _Seat(NamedTuple):
    """A step of a chain with all that does not change between events."""

    step: Step
    runtime: Runtime | None
    plugin: Plugin
    position: int
    deadline_ms: int


class Dispatcher:
    def __init__(
        self,
        *,
        chains: Mapping[str, Chain],
        runtimes: Mapping[str, Runtime],
        permit: Permit,
        sink: Sink,
        clock: Clock,
        place: Place,
        ask: Ask | None = None,
    ) -> None:
        self._chains = chains
        self._permit = permit
        self._sink = sink
        self._clock = clock
        self._place = place
        self._ask = ask
        self._seats = {name: self._seat(chain, runtimes) for name, chain in chains.items()}
        self._threads: ThreadPoolExecutor | None = None

    def fire(self, event: Event) -> Fired:
        """Call everyone who answers to `event`, in the resolved order, and compose what they say."""
        kind = BY_PAYLOAD[type(event)]
        event = self._stamp(event)
        started = self._clock.monotonic()
        self._sink.begin(event)
        calls, answers, final = _ARRANGED[kind.composition.arrange](self, kind, event)
        result = kind.composition.compose(answers) if answers else dict(kind.composition.empty)
        fired = judge(kind, final, result, calls, self._chains[kind.name].warnings, self._ask)
        self._sink.end(event, fired, (self._clock.monotonic() - started) * 1000)
        return fired

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    # The four ways to call a chain

    def _in_turn(self, kind: EventType, event: Event) -> _Round:
        calls: list[Call] = []
        answers: list[Answer] = []
        for seat in self._seats[kind.name]:
            call, event = self._next(kind, seat, event, answers)
            calls.append(call)
        return calls, answers, event

    def _last_only(self, kind: EventType, event: Event) -> _Round:
        answers: list[Answer] = []
        calls = []
        for seat in self._seats[kind.name][-1:]:
            call, event = self._next(kind, seat, event, answers)
            calls.append(call)
        return calls, answers, event

    def _together(self, kind: EventType, event: Event) -> _Round:
        seats = self._seats[kind.name]
        if len(seats) < 2:
            return self._in_turn(kind, event)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="samuel-handler")
        calls = list(self._threads.map(lambda seat: self._call(kind, seat, event, ()), seats))
        return calls, [_answer(call) for call in calls if _usable(kind, call)], event

    def _rewrite_then_guard(self, kind: EventType, event: Event) -> _Round:
        """Rewriters first; then everyone who has not seen the final input judges it."""
        seats = self._seats[kind.name]
        calls: dict[int, Call] = {}
        answers: list[Answer] = []
        all_calls: list[Call] = []
        last_rewrite = 0
        for seat in seats:
            if seat.step.handler.role in (Role.GUARD, Role.OBSERVE):
                continue
            before = event
            call, event = self._next(kind, seat, event, answers)
            if event is not before:
                last_rewrite = seat.position
            calls[seat.position] = call
            all_calls.append(call)

        for seat in seats:
            seen = calls.get(seat.position)
            if seen and (seat.step.handler.role is Role.REWRITE or seat.position >= last_rewrite):
                continue
            call = self._call(kind, seat, replace(event, phase="guard"), answers)
            all_calls.append(call)
            # A denial of an earlier input stands: a later rewrite is no reason to forget it.
            if not (seen and seen.outcome is Outcome.DENIED):
                calls[seat.position] = _without_rewrite(call, kind)
        final = [calls[position] for position in sorted(calls)]
        return all_calls, [_answer(call) for call in final if _usable(kind, call)], event

    # One call

    def _next(self, kind: EventType, seat: _Seat, event: Event, answers: list[Answer]) -> tuple[Call, Event]:
        """Call one handler; keep its answer, and give back the event as the next one sees it."""
        call = self._call(kind, seat, event, answers)
        if _usable(kind, call):
            answers.append(_answer(call))
        if call.outcome is Outcome.OK and call.result:
            event = _rewritten(kind, event, call)
            if "data" in call.result and isinstance(event, LoopEvent):
                event = replace(event, context=_with_data(event.context, seat.plugin.name, call.result["data"]))
        return call, event

    def _call(self, kind: EventType, seat: _Seat, event: Event, answers: Sequence[Answer]) -> Call:
        step = seat.step
        shown: dict[str, Any] = {
            "deadline_ms": seat.deadline_ms,
            "plugin": seat.plugin,
            "idempotency_key": _idempotency_key(event, step.handler),
        }
        if answers and kind.composition.shows_previous:
            shown["previous"] = kind.composition.compose(answers)
        started = self._clock.monotonic()
        reply = self._run(seat, replace(event, **shown))
        duration_ms = (self._clock.monotonic() - started) * 1000
        if reply.outcome is Outcome.OK:
            reply = _understood(kind, reply)
            if reply.result:
                reply = budget.keep(reply, shown.get("previous", {}), step.handler, self._place.prompt_bytes)
        call = Call(
            handler=step.handler,
            position=seat.position,
            outcome=reply.outcome,
            duration_ms=duration_ms,
            strict=step.strict,
            result=reply.result,
            message=reply.message,
            stderr=reply.stderr,
            phase="" if event.phase is msgspec.UNSET else event.phase,
        )
        self._sink.called(event, call)
        return call

    def _run(self, seat: _Seat, event: Event) -> Reply:
        handler = seat.step.handler
        if handler.status is not Status.ACTIVE:
            return Reply(UNAVAILABLE[handler.status], message=handler.reason)
        if refusal := self._permit(handler):
            return Reply(Outcome.REFUSED, message=refusal)
        if seat.runtime is None:
            return Reply(Outcome.NOT_STARTED, message=f"no runtime `{handler.runtime}` on this machine")
        try:
            return seat.runtime.call(handler, event, seat.step.timeout)
        except Exception as error:  # noqa: BLE001  a fault of a runtime must not end what fired the event
            return Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}")

    # Preparation

    def _stamp(self, event: Event) -> Event:
        return replace(
            event,
            event_id=event.event_id or self._clock.new_id("evt"),
            timestamp=event.timestamp or iso(self._clock.now()),
            project_root=self._place.project_root,
            methodology=event.methodology or self._place.methodology,
        )

    def _seat(self, chain: Chain, runtimes: Mapping[str, Runtime]) -> tuple[_Seat, ...]:
        return tuple(
            _Seat(
                step,
                runtimes.get(step.handler.runtime),
                Plugin(step.handler.key, step.handler.config, self._place.data_dir(step.handler.key)),
                position,
                int(step.timeout * 1000),
            )
            for position, step in enumerate(chain.steps, start=1)
        )


_Round = tuple[list[Call], list[Answer], Event]

_ARRANGED: Mapping[Arrange, Callable[[Dispatcher, EventType, Event], _Round]] = {
    Arrange.IN_TURN: Dispatcher._in_turn,
    Arrange.LAST_ONLY: Dispatcher._last_only,
    Arrange.TOGETHER: Dispatcher._together,
    Arrange.REWRITE_THEN_GUARD: Dispatcher._rewrite_then_guard,
}


def _understood(kind: EventType, reply: Reply) -> Reply:
    """Check the shape of an answer, and read from it whether it is a yes."""
    try:
        msgspec.convert(reply.result, kind.result)
    except msgspec.ValidationError as error:
        return reply._replace(outcome=Outcome.BAD_OUTPUT, result={}, message=f"wrong shape: {error}")
    except RecursionError:
        return reply._replace(outcome=Outcome.BAD_OUTPUT, result={}, message="wrong shape: nested too deeply")
    result = reply.result
    if kind.composition.can_deny and (found := verdict(result)).decision == "deny":
        return reply._replace(outcome=Outcome.DENIED, message=found.reason or "denied without a reason")
    if result.get("ok") is False or result.get("error"):
        why = result.get("reason") or result.get("error") or "it said `ok: false`"
        return reply._replace(outcome=Outcome.FAILED, message=str(why))
    return reply


def _usable(kind: EventType, call: Call) -> bool:
    return call.counts or (call.outcome is Outcome.FAILED and kind.composition.keeps_failed)


def _answer(call: Call) -> Answer:
    return Answer(call.handler.name, call.handler.origin, call.result)


def _rewritten(kind: EventType, event: Event, call: Call) -> Event:
    """The event with the fields that this answer replaces."""
    given = [name for name in kind.composition.rewrites if call.result.get(name) is not None]
    if not given:
        return event
    checked = msgspec.convert(call.result, kind.result)
    return replace(event, **{name: getattr(checked, name) for name in given})


def _without_rewrite(call: Call, kind: EventType) -> Call:
    """A rewrite in the guard phase comes too late: it is dropped, and said."""
    dropped = [name for name in kind.composition.rewrites if name in call.result]
    if not dropped:
        return call
    result = {key: value for key, value in call.result.items() if key not in dropped}
    return replace(call, result=result, message=call.message or f"`{dropped[0]}` ignored: the input is final now")


def _with_data(context: Mapping[str, Any], key: str, data: Mapping[str, Any] | None) -> Mapping[str, Any]:
    plugins = context.get("Plugins", {})
    return {**context, "Plugins": {**plugins, key: {**plugins.get(key, {}), **(data or {})}}}


def _idempotency_key(event: Event, handler: Handler) -> str:
    """The same for the same step of the same run, also when it is fired again after a crash."""
    if event.run_id is msgspec.UNSET:
        return f"{event.event_id}/{handler.name}"
    iteration = event.iteration if isinstance(event, LoopEvent) else 0
    return f"{event.run_id}/{iteration}/{handler.event}/{handler.name}"
