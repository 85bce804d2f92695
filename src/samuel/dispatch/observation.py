"""Turns the call of an observed handler into one without effect, and keeps what it would have decided.

This is the only place that knows what `mode = "observe"` means: from here on the call has an empty result, is not
strict and cannot deny, so that neither the composition nor the verdict depends on it.
"""

from __future__ import annotations

from msgspec.structs import replace

from samuel.dispatch.judge import OnceDenied, stops
from samuel.dispatch.record import HandlerCall, Would
from samuel.events import EventType
from samuel.events.compose import verdict
from samuel.hooks.handler import Outcome


def observed(kind: EventType, call: HandlerCall, once_denied: OnceDenied) -> HandlerCall:
    """`call` as one that changes nothing, with what it would have changed in `would`."""
    would_be, reason = _decision(kind, call, once_denied)
    denied = call.outcome is Outcome.DENIED
    return replace(
        call,
        outcome=Outcome.OK if denied else call.outcome,
        strict=False,
        result={},
        message="" if denied else call.message,  # the message of a call that is ok becomes a warning
        would=Would(would_be, reason, call.result),
    )


def _decision(kind: EventType, call: HandlerCall, once_denied: OnceDenied) -> tuple[str, str]:
    """The verdict of an enforced handler with this reply, and its reason."""
    composition = kind.composition
    if call.outcome is Outcome.DENIED:
        return "deny", call.message
    if not call.counts:
        stopped = stops(kind, call, once_denied)
        fails = composition.keeps_failed and call.result.get("ok") is False and kind.family != "session"
        fault = f"{call.outcome}: {call.message}"
        if stopped and composition.can_deny:
            return "deny", fault
        return ("fail", fault) if stopped or fails else ("allow", "")
    decision = verdict(call.result)
    if composition.can_deny and decision.decision == "ask":
        return "ask", decision.reason
    rewritten = [name for name in composition.rewrites if call.result.get(name) is not None]
    if rewritten and call.phase != "guard":  # there the input is final
        return "rewrite", decision.reason
    return "allow", ""
