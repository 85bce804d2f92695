"""The state of one event while its handlers run: the event as the next handler sees it, and the results so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from samuel.base.decoding import convert
from samuel.dispatch.record import HandlerCall
from samuel.dispatch.replies import failure_of, salvage, stated_reason, with_reason
from samuel.events import Event, EventType, LoopEvent, names
from samuel.events.compose import HandlerResult, verdict
from samuel.events.explain import explained
from samuel.hooks.guards import may_deny
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply

# Looked up once: the lookup of an enum's member costs as much as the rest of a comparison.
OK, DENIED, FAILED = Outcome.OK, Outcome.DENIED, Outcome.FAILED

HOLDS_BACK = frozenset((names.BEFORE_LAND,))
"""Events that ask whether something may happen, though no agent waits for the answer: a denial holds it back."""


class EventRun:
    """One event on its way through its chain."""

    __slots__ = ("_results", "_rewrites", "_step", "calls", "composed", "event", "key", "kind")

    def __init__(self, kind: EventType, event: Event) -> None:
        self.kind = kind
        self.event = event
        self.key = _idempotency_key(event, kind.name)
        self.calls: list[HandlerCall] = []
        self.composed: dict[str, Any] | None = None  # None until a handler returned a result
        self._results: list[HandlerResult] = []
        composition = kind.composition
        self._step = composition.step
        self._rewrites = composition.rewrites

    def record(self, call: HandlerCall) -> HandlerCall:
        """Record a call of a handler that runs in turn; the next handler sees what it rewrote and contributed."""
        self.calls.append(call)
        result = call.result
        if not result or not (call.outcome is OK or self._usable(call)):
            return call
        step = self._step
        if step is not None:
            self.composed = step(self.composed or self.kind.composition.empty, result)
        else:
            self._results.append(_handler_result(call, self._rewrites))
            self.composed = self.kind.composition.compose(self._results)
        if call.outcome is OK:
            if self._rewrites:
                self.event = _rewritten(self.kind, self.event, result)
            if "data" in result and isinstance(self.event, LoopEvent):
                context = _with_data(self.event.context, call.handler.key, result["data"])
                self.event = replace(self.event, context=context)
        return call

    def record_all(self, calls: list[HandlerCall]) -> None:
        """Record the calls of handlers that ran at the same time."""
        self.calls += calls
        self.compose(calls)

    def compose(self, calls: Sequence[HandlerCall]) -> None:
        """Compose the results of these calls only."""
        self.composed = self.kind.composition.compose(
            [_handler_result(call, self._rewrites) for call in calls if self._usable(call)]
        )

    def _usable(self, call: HandlerCall) -> bool:
        outcome = call.outcome
        return outcome is OK or outcome is DENIED or (outcome is FAILED and self.kind.composition.keeps_failed)


_VERDICT_KEYS = frozenset(("decision", "blocked", "error", "ok"))
_LOOKED_INTO = frozenset((*_VERDICT_KEYS, "suggested_abilities"))  # keys whose values a schema cannot judge


def validated(kind: EventType, reply: Reply) -> Reply:
    """`reply` with its result checked against the event's schema, and with the outcome that the result means."""
    if _LOOKED_INTO.isdisjoint(reply.result):  # the usual case of a handler that contributes and judges nothing
        try:
            convert(reply.result, kind.result)
            return reply
        except (msgspec.ValidationError, RecursionError):
            pass
    try:
        result, note = salvage(kind, reply.result)
    except msgspec.ValidationError as error:
        wrong = f"wrong shape: {explained(error, kind.result)}"
        unused = only_denial(kind, replace(reply, outcome=Outcome.BAD_OUTPUT, message=wrong))
        if unused.outcome is DENIED or reply.result.get("ok") is not False:
            return unused
        message, failure = failure_of(reply.result, wrong)
        return replace(reply, outcome=FAILED, message=message, result=failure)
    except RecursionError:
        return replace(reply, outcome=Outcome.BAD_OUTPUT, result={}, message="wrong shape: nested too deeply")
    if note:
        reply = replace(reply, result=result, message=note)
    final = _with_outcome(kind, reply, result)
    if note and final is not reply:
        return replace(final, message=f"{final.message} ({note})")
    return final


def _with_outcome(kind: EventType, reply: Reply, result: Mapping[str, Any]) -> Reply:
    """`reply` with the outcome that its result means: denied, failed, or unchanged."""
    if _VERDICT_KEYS.isdisjoint(result):
        return reply
    if kind.name == names.AGENT_INVOKE:  # `blocked` there is about the task
        result = {key: value for key, value in result.items() if key != "blocked"}
    decision = verdict(result)
    if decision.decision == "deny" and _can_be_denied(kind):
        return replace(reply, outcome=DENIED, message=decision.reason or "denied without a reason")
    if decision.decision == "deny" and not result.get("error"):  # the author expects that this stopped something
        because = f": {decision.reason}" if decision.reason else ""
        return replace(
            reply, outcome=FAILED, message=f"returned deny, but `{kind.name}` cannot be denied{because}"
        )
    if result.get("ok", True) and not result.get("error"):
        return reply
    return replace(reply, outcome=FAILED, message=stated_reason(result) or "it returned `ok: false`")


def _can_be_denied(kind: EventType) -> bool:
    return kind.composition.can_deny or kind.name in HOLDS_BACK


def must_be_known(kind: EventType, handler: Handler) -> bool:
    """True if `handler` may deny, so that a call must deny when it is not known what ran.

    Otherwise a program that touches its files all the time would switch it off, whether it declares a role or not.
    """
    holds_back = kind.name in HOLDS_BACK and handler.role is None
    return holds_back or may_deny(kind, handler.role, blocking=handler.blocking)


def only_denial(kind: EventType, reply: Reply) -> Reply:
    """A reply that cannot be used, because of its shape or of how the handler ended: its denial or its reason."""
    decision = verdict(reply.result)
    if not _can_be_denied(kind) or decision.decision != "deny":
        return replace(reply, result={}, message=with_reason(reply.message, reply.result))
    reason = decision.reason or "denied without a reason"
    denial = {"decision": "deny", "reason": reason}
    return replace(reply, outcome=DENIED, result=denial, message=f"{reason} ({reply.outcome}: {reply.message})")


def without_rewrite(call: HandlerCall, kind: EventType) -> HandlerCall:
    """`call` without a rewrite, which comes too late in the guard phase, and with a message about it."""
    dropped = [name for name in kind.composition.rewrites if name in call.result]
    if not dropped:
        return call
    result = {key: value for key, value in call.result.items() if key not in dropped}
    return replace(call, result=result, message=call.message or f"`{dropped[0]}` ignored: the input is final now")


def _handler_result(call: HandlerCall, rewrites: Sequence[str]) -> HandlerResult:
    result = call.result
    if rewrites and call.outcome is not OK:
        # Later handlers did not see this rewrite, so it must not be in the composed result either.
        result = {key: value for key, value in result.items() if key not in rewrites}
    return HandlerResult(call.handler.name, call.handler.origin, result)


def _rewritten(kind: EventType, event: Event, result: Mapping[str, Any]) -> Event:
    """`event` with the fields that this result replaces."""
    replaced = [name for name in kind.composition.rewrites if result.get(name) is not None]
    if not replaced:
        return event
    checked = convert(result, kind.result)
    return replace(event, **{name: getattr(checked, name) for name in replaced})


def _with_data(context: Mapping[str, Any], key: str, data: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """`context` with a handler's `data` merged into its own namespace."""
    plugins = context.get("Plugins", {})
    return {**context, "Plugins": {**plugins, key: {**plugins.get(key, {}), **(data or {})}}}


def _idempotency_key(event: Event, name: str) -> str:
    """A key that is the same when the same step of the same run is fired again after a crash."""
    if event.run_id is UNSET or name in names.INSIDE_AGENT:
        return event.event_id  # each of them is a step of its own
    if isinstance(event, LoopEvent):
        if commit := getattr(event, "commit", UNSET):  # a step of landing, which may be about several iterations
            return f"{event.run_id}/land/{commit}/{name}"
        return f"{event.run_id}/{event.iteration}/{name}"
    return f"{event.run_id}/{'' if event.session_id is UNSET else event.session_id}/{name}"
