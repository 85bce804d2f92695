"""Calls the handlers of an event; nothing else does.

`fire` reads top to bottom: stamp the event, call the chain in the way that its composition requires, compose,
judge. The dispatcher is given everything it uses; it discovers nothing and nothing in it is global.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from samuel.base.clock import Clock, iso
from samuel.dispatch.background import NO_HOST, BackgroundCall, HandlerHost, begin
from samuel.dispatch.event_run import EventRun, must_be_known, only_denial, validated, without_rewrite
from samuel.dispatch.handler_state import RuntimeCall, one_at_a_time
from samuel.dispatch.judge import judge
from samuel.dispatch.observation import observed
from samuel.dispatch.record import AskUser, Fired, HandlerCall, Sink
from samuel.dispatch.replies import with_misspelt_verdict, with_reason, within_budget
from samuel.events import Event, EventType, Plugin
from samuel.events.catalogue import BY_PAYLOAD
from samuel.events.compose import Arrange, verdict
from samuel.hooks.capability import overreach
from samuel.hooks.guards import can_become_guard
from samuel.hooks.handler import Handler, HandlerMode, HandlerStatus, Origin, Outcome, Package, Role
from samuel.hooks.order import Chain, ChainStep
from samuel.process.emit_client import DeadlinePassed
from samuel.process.tree import check_calls, kill_all
from samuel.runtimes.base import Reply, Runtime
from samuel.trust.permit import CHANGED, PermitCheck

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


# Looked up once: the lookup of an enum's member costs as much as the rest of a comparison.
OK, LAST_ONLY = Outcome.OK, Arrange.LAST_ONLY
UNAVAILABLE = {HandlerStatus.UNTRUSTED: Outcome.REFUSED, HandlerStatus.BROKEN: Outcome.NOT_STARTED}


class ProjectFields(msgspec.Struct, frozen=True):
    """What the dispatcher writes into every event of a project."""

    project_root: str
    methodology: str
    data_dir: Callable[[str], str]  # of a plugin, by its name
    prompt_bytes: int  # how much one handler may add to the prompt
    environment: str = ""
    recipe: str = ""  # the recipe that this process was started in
    lane: int | None = None  # of a run with lanes
    machine: str = ""  # of a run with several machines


class _BoundHandler(msgspec.Struct, frozen=True):
    """A step of a chain, with everything that is the same for all events."""

    handler: Handler
    key: str  # what it adds to the idempotency key of the event
    run: RuntimeCall  # checks the permit first
    plugin: Plugin
    position: int
    strict: bool
    observed: bool
    timeout: float
    deadline_ms: int
    budget: float  # bytes it may add to the prompt; built-ins have limits of their own
    package: Package | None
    background: bool
    serial: bool


class Dispatcher:
    """Fires events: calls their handlers and composes the results. Any number of threads may fire at once."""

    def __init__(
        self,
        *,
        chains: Mapping[str, Chain],
        runtimes: Mapping[str, Runtime],
        permit: PermitCheck,
        sink: Sink,
        clock: Clock,
        project: ProjectFields,
        ask: AskUser | None = None,
        host: HandlerHost = NO_HOST,
    ) -> None:
        """Without a `host` nothing is kept, and handlers in the background are waited for."""
        self._state, self._background = host
        self._chains = chains
        self._permit = permit
        self._sink = sink
        self._clock = clock
        self._monotonic = clock.monotonic
        self._project = project
        self._ask = ask
        self._runtimes = runtimes
        self._bound_chains: dict[str, tuple[_BoundHandler, ...]] = {}
        self._filtered: set[str] = set()  # names of events with a handler that has a `match`
        self._with_background: set[str] = set()  # names of events with a handler that runs in the background
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def fire(self, event: Event) -> Fired:
        """Call the handlers of `event` in the resolved order, and compose their results."""
        kind = BY_PAYLOAD[type(event)]
        started = self._monotonic()
        event = self._stamp(event)
        self._sink.begin(event)
        event_run = EventRun(kind, event)
        handlers = self._bound_chain(kind.name)
        if kind.name in self._filtered:
            handlers = _matching(handlers, event)
        called = handlers
        if kind.name in self._with_background:
            called = tuple(bound for bound in handlers if not bound.background)
        match kind.composition.arrange:
            case Arrange.IN_TURN | Arrange.LAST_ONLY:  # of the latter the chain has one handler
                self._in_turn(event_run, called)
            case Arrange.TOGETHER:
                self._together(event_run, called)
            case Arrange.REWRITE_THEN_GUARD:
                self._rewrite_then_guard(event_run, called)
        background = self._start_background(event_run, handlers) if len(called) < len(handlers) else ()
        result = event_run.composed if event_run.composed is not None else kind.composition.empty
        warnings, once_denied = self._chains[kind.name].warnings, self._once_denied
        fired = judge(kind, event_run.event, result, event_run.calls, warnings, self._ask, once_denied)
        if background:
            fired = replace(fired, background=background)
        self._sink.end(event, fired, (self._monotonic() - started) * 1000)
        return fired

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    # The ways to call a chain

    def _in_turn(self, event_run: EventRun, handlers: Sequence[_BoundHandler]) -> None:
        for bound in handlers:
            event_run.record(self._call(bound, event_run, event_run.event))

    def _together(self, event_run: EventRun, handlers: Sequence[_BoundHandler]) -> None:
        """Call the handlers at the same time: the first in this thread, the others in threads of the pool.

        The pool is shared by all events. A handler that none of its threads has begun when this thread is free is
        called here, so handlers of other events that hang do not delay this one.
        """
        if len(handlers) < 2:
            self._in_turn(event_run, handlers)
            return
        event = event_run.event
        futures = [self._pool().submit(self._call, bound, event_run, event) for bound in handlers[1:]]
        try:
            calls = [self._call(handlers[0], event_run, event)]
            for bound, future in zip(handlers[1:], futures, strict=True):
                calls.append(self._call(bound, event_run, event) if future.cancel() else future.result())
        except BaseException as error:
            for future in futures:
                future.cancel()
            if not isinstance(error, Exception):
                # Ctrl-C is raised only in this thread; the others wait for processes, which must end now.
                kill_all()
            raise
        event_run.record_all(calls)

    def _pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                from concurrent.futures import ThreadPoolExecutor  # with logging: most chains need no threads

                self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="samuel-handler")
            return self._threads

    def _rewrite_then_guard(self, event_run: EventRun, handlers: Sequence[_BoundHandler]) -> None:
        """Call the rewriters first, then with the final input each handler that has not seen it."""
        calls: dict[int, HandlerCall] = {}  # by position; of a handler that was called twice, the one that counts
        last_rewrite = 0
        for bound in handlers:
            if bound.handler.role in (Role.GUARD, Role.OBSERVE):
                continue
            before = event_run.event
            calls[bound.position] = event_run.record(self._call(bound, event_run, event_run.event))
            if event_run.event is not before:
                last_rewrite = bound.position

        final = replace(event_run.event, phase="guard")
        for bound in handlers:
            earlier = calls.get(bound.position)
            if earlier and (bound.handler.role is Role.REWRITE or bound.position >= last_rewrite):
                continue
            call = without_rewrite(self._call(bound, event_run, final), event_run.kind)
            event_run.calls.append(call)
            calls[bound.position] = call
        event_run.compose([calls[position] for position in sorted(calls)])

    def _start_background(self, event_run: EventRun, handlers: Sequence[_BoundHandler]) -> tuple[str, ...]:
        """Start the handlers of the background, with the event as the others left it; their names."""
        assert self._background is not None
        names: list[str] = []
        for bound in handlers:
            if not bound.background:
                continue
            payload = replace(self._payload(bound, event_run, event_run.event), previous=UNSET)
            call = BackgroundCall(bound.handler, payload, bound.position, bound.timeout, bound.serial)
            if not_begun := begin(call, self._background, self._permit):
                event_run.calls.append(not_begun)
                self._sink.called(event_run.event, not_begun)
            else:
                names.append(bound.handler.name)
        return tuple(names)

    # One call

    def _call(self, bound: _BoundHandler, event_run: EventRun, event: Event) -> HandlerCall:
        """Run one handler, validate its reply, and give the call to the sink."""
        handler, package, composed = bound.handler, bound.package, event_run.composed
        payload = self._payload(bound, event_run, event)
        monotonic = self._monotonic
        started = monotonic()
        try:
            reply = bound.run(handler, payload, bound.timeout)
        except DeadlinePassed:  # the journal must tell which handler took so long
            duration_ms = (monotonic() - started) * 1000
            why = "killed at the deadline of `samuel emit`"
            late = HandlerCall(handler, bound.position, Outcome.TIMED_OUT, duration_ms, bound.strict, message=why)
            self._sink.called(event, late)
            raise
        duration_ms = (monotonic() - started) * 1000
        if reply.outcome is OK:
            # An empty result is valid, except where only one handler runs and its result is needed.
            if reply.result or event_run.kind.composition.arrange is LAST_ONLY:
                reply = with_misspelt_verdict(event_run.kind, validated(event_run.kind, reply), bound.strict)
                if package is not None and (why := overreach(event, reply.result, package.grants)):
                    reply = Reply(Outcome.REFUSED, message=with_reason(why, reply.result), stderr=reply.stderr)
                elif reply.size > bound.budget:
                    reply = within_budget(reply, composed, bound.budget)
        elif reply.result:
            reply = only_denial(event_run.kind, reply)
        call = HandlerCall(
            handler,
            bound.position,
            reply.outcome,
            duration_ms,
            bound.strict or (reply.changed and must_be_known(event_run.kind, handler)),
            reply.result,
            reply.message,
            reply.stderr,
            "" if event.phase is UNSET else event.phase,
        )
        if bound.observed:
            call = observed(event_run.kind, call, self._once_denied)
        if call.outcome is Outcome.DENIED and self._state and can_become_guard(handler, event_run.kind):
            self._state.record_denial(handler)
        self._sink.called(event, call)
        return call

    def _payload(self, bound: _BoundHandler, event_run: EventRun, event: Event) -> Event:
        """The event as this handler gets it."""
        package, composed = bound.package, event_run.composed
        payload = replace(
            event,
            deadline_ms=bound.deadline_ms,
            plugin=bound.plugin,
            previous=UNSET if composed is None else composed,
            idempotency_key=event_run.key + bound.key,
        )
        if package is not None and event.recipe_name:
            # The hooks of a plugin know its recipes by the names of their files.
            payload = replace(payload, recipe_name=event.recipe_name.removeprefix(f"{package.name}/"))
        return payload

    def _runner(self, step: ChainStep) -> RuntimeCall:
        """The function that runs one handler. It checks the permit at every call."""
        handler = step.handler
        runtime = self._runtimes.get(handler.runtime)
        if handler.status is not HandlerStatus.ACTIVE:
            unavailable = Reply(UNAVAILABLE[handler.status], message=handler.reason)
            return lambda handler, event, timeout: unavailable
        if runtime is None:
            missing = f"no runtime `{handler.runtime}` on this machine"
            return lambda handler, event, timeout: Reply(Outcome.NOT_STARTED, message=missing)

        # A function of this process needs no permit and cannot be killed.
        run: RuntimeCall = runtime.call if handler.function is not None else self._permitted(runtime)
        return one_at_a_time(run, self._state) if step.serial and self._state is not None else run

    def _permitted(self, runtime: Runtime) -> RuntimeCall:
        permit = self._permit

        def run(handler: Handler, event: Event, timeout: float) -> Reply:
            before = permit.stamp(handler)
            if refusal := permit.refusal(handler):
                return Reply(Outcome.REFUSED, message=refusal)
            check_calls()
            try:
                reply = runtime.call(handler, event, timeout, permit.content(handler))
            except Exception as error:  # noqa: BLE001  a fault of a runtime must not end the caller of fire
                reply = Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}")
            check_calls()  # its process may have been killed: what it would have returned is not known
            if not reply.changed and permit.stamp(handler) != before:
                denial = reply.result if verdict(reply.result).decision == "deny" else {}
                return Reply(Outcome.REFUSED, denial, CHANGED, reply.stderr, changed=True)
            return reply

        return run

    def _once_denied(self, handler: Handler) -> bool:
        return self._state is not None and self._state.once_denied(handler)

    # Preparation

    def _stamp(self, event: Event) -> Event:
        project = self._project
        recipe = event.recipe_name
        if recipe is UNSET:
            recipe = project.recipe or UNSET
        return replace(
            event,
            recipe_name=recipe,
            recipe_full_name=recipe or UNSET,
            event_id=event.event_id or self._clock.new_id("evt"),
            timestamp=event.timestamp or iso(self._clock.now()),
            project_root=project.project_root,
            methodology=event.methodology or project.methodology,
            environment=project.environment or UNSET,
            machine=project.machine or event.machine,
            lane=event.lane if project.lane is None or event.lane is not UNSET else project.lane,
        )

    def _bound_chain(self, name: str) -> tuple[_BoundHandler, ...]:
        """The handlers of an event, bound the first time it is fired."""
        handlers = self._bound_chains.get(name)
        if handlers is None:
            chain = self._chains[name]
            handlers = tuple(self._bind(chain.event, step, at) for at, step in enumerate(chain.steps, start=1))
            if any(bound.handler.match for bound in handlers):
                self._filtered.add(name)  # first: a thread that gets the bound chain must see this too
            if any(bound.background for bound in handlers):
                self._with_background.add(name)
            self._bound_chains[name] = handlers
        return handlers

    def _bind(self, kind: EventType, step: ChainStep, position: int) -> _BoundHandler:
        # The handler of a hook that could not list its events has none; the record of a call needs one.
        handler = step.handler if step.handler.event else replace(step.handler, event=kind.name)
        limited = kind.adds_to_prompt and handler.origin is not Origin.BUILT_IN
        return _BoundHandler(
            handler,
            f"/{handler.name}",
            self._runner(step),
            Plugin(handler.key, handler.config, self._project.data_dir(handler.key)),
            position,
            step.strict,
            step.mode is HandlerMode.OBSERVE,
            step.timeout,
            int(step.timeout * 1000),
            self._project.prompt_bytes if limited else math.inf,
            handler.package,
            step.background and self._background is not None and handler.status is HandlerStatus.ACTIVE,
            step.serial,
        )


def _matching(handlers: Sequence[_BoundHandler], event: Event) -> tuple[_BoundHandler, ...]:
    """The handlers whose `match` applies to the event; the others are neither called nor recorded."""

    if not any(bound.handler.match for bound in handlers):
        return tuple(handlers)
    from samuel.hooks.match import holds  # with regular expressions

    def field_value(name: str) -> object:
        value = getattr(event, name, None)
        return None if value is UNSET else value

    return tuple(bound for bound in handlers if holds(bound.handler.match, field_value))
