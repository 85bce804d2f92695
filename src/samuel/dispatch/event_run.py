"""One firing on its way: the event as the next handler sees it, and what was said so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from samuel.decoding import convert
from samuel.dispatch.record import HandlerCall
from samuel.dispatch.salvage import salvaged
from samuel.events import Event, EventType, LoopEvent, names
from samuel.events.compose import HandlerResult, verdict
from samuel.events.explain import explained
from samuel.hooks.handler import Outcome
from samuel.runtimes.base import Reply

# Bound once: looking a member up on its enum costs as much as the rest of a comparison.
OK, DENIED, FAILED = Outcome.OK, Outcome.DENIED, Outcome.FAILED


class EventRun:
    __slots__ = ("_answers", "_rewrites", "_step", "calls", "composed", "event", "key", "kind")

    def __init__(self, kind: EventType, event: Event) -> None:
        self.kind = kind
        self.event = event
        self.key = _idempotency_key(event, kind.name)
        self.calls: list[HandlerCall] = []
        self.composed: dict[str, Any] | None = None  # None until somebody answered
        self._answers: list[HandlerResult] = []
        self._step = kind.composition.step
        self._rewrites = kind.composition.rewrites

    def take(self, call: HandlerCall) -> HandlerCall:
        """Note a call of a handler that runs in turn; what it rewrote and contributed holds for the next one."""
        self.calls.append(call)
        result = call.result
        if not result or not (call.outcome is OK or self._usable(call)):
            return call
        if self._step is not None:
            self.composed = self._step(self.composed or self.kind.composition.empty, result)
        else:
            self._answers.append(_answer(call, self._rewrites))
            self.composed = self.kind.composition.compose(self._answers)
        if call.outcome is OK:
            if self._rewrites:
                self.event = _rewritten(self.kind, self.event, result)
            if "data" in result and isinstance(self.event, LoopEvent):
                context = _with_data(self.event.context, call.handler.key, result["data"])
                self.event = replace(self.event, context=context)
        return call

    def take_all(self, calls: list[HandlerCall]) -> None:
        """Note the calls of handlers that ran at the same time."""
        self.calls += calls
        self.settle(calls)

    def settle(self, calls: Sequence[HandlerCall]) -> None:
        """Compose the answers of exactly these calls."""
        self.composed = self.kind.composition.compose(
            [_answer(call, self._rewrites) for call in calls if self._usable(call)]
        )

    def _usable(self, call: HandlerCall) -> bool:
        outcome = call.outcome
        return outcome is OK or outcome is DENIED or (outcome is FAILED and self.kind.composition.keeps_failed)


_SAYS_NO = ("decision", "blocked", "error")


def understood(kind: EventType, reply: Reply) -> Reply:
    """Check the shape of an answer, and read from it whether it is a yes."""
    try:
        result, note = salvaged(kind, reply.result)
    except msgspec.ValidationError as error:
        wrong = f"wrong shape: {explained(error, kind.result)}"
        return unusable(kind, replace(reply, outcome=Outcome.BAD_OUTPUT, message=wrong))
    except RecursionError:
        return replace(reply, outcome=Outcome.BAD_OUTPUT, result={}, message="wrong shape: nested too deeply")
    if note:
        reply = replace(reply, result=result, message=note)
    judged = _judged(kind, reply, result)
    if note and judged is not reply:
        return replace(judged, message=f"{judged.message} ({note})")
    return judged


def _judged(kind: EventType, reply: Reply, result: Mapping[str, Any]) -> Reply:
    """The reply with the outcome that its result means."""
    if result.keys().isdisjoint(_SAYS_NO) and result.get("ok", True):
        return reply
    if kind.name == names.AGENT_INVOKE:  # `blocked` there is about the task
        result = {key: value for key, value in result.items() if key != "blocked"}
    found = verdict(result)
    if found.decision == "deny" and kind.composition.can_deny:
        return replace(reply, outcome=DENIED, message=found.reason or "denied without a reason")
    if found.decision == "deny" and not result.get("error"):  # whoever wrote this believes that it was stopped
        because = f": {found.reason}" if found.reason else ""
        return replace(reply, outcome=FAILED, message=f"said deny, but `{kind.name}` cannot be denied{because}")
    if result.get("ok", True) and not result.get("error"):
        return reply
    why = result.get("reason") or result.get("error") or "it said `ok: false`"
    return replace(reply, outcome=FAILED, message=str(why))


def unusable(kind: EventType, reply: Reply) -> Reply:
    """Of an answer in the wrong shape, or of a handler that ended badly, a clear no is all that counts."""
    found = verdict(reply.result)
    if not kind.composition.can_deny or found.decision != "deny":
        return replace(reply, result={})
    reason = found.reason or "denied without a reason"
    said = {"decision": "deny", "reason": reason}
    return replace(reply, outcome=DENIED, result=said, message=f"{reason} ({reply.outcome}: {reply.message})")


def without_rewrite(call: HandlerCall, kind: EventType) -> HandlerCall:
    """A rewrite in the guard phase comes too late: it is dropped, and said."""
    dropped = [name for name in kind.composition.rewrites if name in call.result]
    if not dropped:
        return call
    result = {key: value for key, value in call.result.items() if key not in dropped}
    return replace(call, result=result, message=call.message or f"`{dropped[0]}` ignored: the input is final now")


def _answer(call: HandlerCall, rewrites: Sequence[str]) -> HandlerResult:
    result = call.result
    if rewrites and call.outcome is not OK:
        # It rewrote nothing for those after it, so it must not seem so to whoever fired the event either.
        result = {key: value for key, value in result.items() if key not in rewrites}
    return HandlerResult(call.handler.name, call.handler.origin, result)


def _rewritten(kind: EventType, event: Event, result: Mapping[str, Any]) -> Event:
    """The event with the fields that this answer replaces."""
    given = [name for name in kind.composition.rewrites if result.get(name) is not None]
    if not given:
        return event
    checked = convert(result, kind.result)
    return replace(event, **{name: getattr(checked, name) for name in given})


def _with_data(context: Mapping[str, Any], key: str, data: Mapping[str, Any] | None) -> Mapping[str, Any]:
    plugins = context.get("Plugins", {})
    return {**context, "Plugins": {**plugins, key: {**plugins.get(key, {}), **(data or {})}}}


def _idempotency_key(event: Event, name: str) -> str:
    """The same for the same step of the same run, also when it is fired again after a crash."""
    if event.run_id is UNSET or name in (names.PRE_ABILITY_CALL, names.POST_ABILITY_CALL):
        return event.event_id  # an ability may be called many times in a session: each is its own step
    if isinstance(event, LoopEvent):
        return f"{event.run_id}/{event.iteration}/{name}"
    return f"{event.run_id}/{'' if event.session_id is UNSET else event.session_id}/{name}"
