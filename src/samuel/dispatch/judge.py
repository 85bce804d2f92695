"""Decides what denials and faults mean for an event, after its whole chain has run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from samuel.dispatch.record import AskUser, Fired, HandlerCall
from samuel.events import Event, EventType, LoopEvent, names
from samuel.hooks.guards import NOT_RUN, can_become_guard, is_guard
from samuel.hooks.handler import Handler, Outcome

OK = Outcome.OK
OnceDenied = Callable[[Handler], bool]
VERDICTS = frozenset(("decision", "blocked"))


def judge(
    kind: EventType,
    event: Event,
    result: Mapping[str, Any],
    calls: Sequence[HandlerCall],
    chain_warnings: Sequence[str],
    ask: AskUser | None,
    once_denied: OnceDenied,
) -> Fired:
    """The outcome of an event whose handlers have run.

    A denial counts whether the handler is strict or not. A fault of a strict handler stops the caller; on an event
    that can be denied it denies, and so does a guard that could not be run. Any other fault is a warning.
    `once_denied` says which handlers are guards because they denied before.
    """
    result = dict(result)
    composition = kind.composition
    notable = [call for call in calls if call.outcome is not OK or call.message]
    strict_faults = notable and [call for call in notable if call.would is None and stops(kind, call, once_denied)]
    if composition.can_deny:
        reason = _decide(result, notable, strict_faults, ask)
    elif composition.needs_answer and not calls:
        reason = f"no handler runs on `{kind.name}`; `samuel hooks explain {kind.name}` shows why"
    else:
        denials = [call.message for call in notable if call.outcome is Outcome.DENIED]
        reason = denials[0] if denials else _fault(strict_faults[0]) if strict_faults else ""
        # Verdicts mean nothing on an event that cannot be denied.
        if not VERDICTS.isdisjoint(result) and kind.family == "session":
            result = {key: value for key, value in result.items() if key not in VERDICTS}

    warnings = list(chain_warnings)
    if notable:
        # The denial that is the reason is not a warning too.
        reported = [call for call in notable if call.outcome is not Outcome.DENIED or call.message != reason]
        goes_on = "" if reason or result.get("decision") == "ask" else _GOES_ON.get(kind.name, "")
        warnings += [_warning(call, goes_on) for call in reported]
    if reason:
        if not calls:
            warnings.append(reason)
        if "ok" in result:
            result["ok"] = False
    if composition.completes:
        result |= {name: msgspec.to_builtins(getattr(event, name)) for name in composition.rewrites}
    return Fired(
        event=event,
        ok=not reason and result.get("ok") is not False,
        stopped=bool(reason),
        result=result,
        calls=tuple(calls),
        warnings=tuple(warnings),
        reason=reason,
        context=event.context if isinstance(event, LoopEvent) else {},
    )


def _decide(
    result: dict[str, Any],
    notable: Sequence[HandlerCall],
    strict_faults: Sequence[HandlerCall],
    ask: AskUser | None,
) -> str:
    """Write the final decision into `result`; return the reason if it is deny, else ""."""
    reason = str(result.get("reason") or "")
    denial = next((call for call in notable if call.outcome is Outcome.DENIED), None)
    if denial is not None:
        # A handler that denied an earlier input has denied the call, whatever it makes of the rewritten one.
        reason = (reason if result.get("decision") == "deny" else "") or denial.message
    elif strict_faults:
        first = strict_faults[0]
        why = "a guard that fails denies" if first.outcome not in NOT_RUN else "a guard that cannot run denies"
        reason = f"{_fault(first)}; {why}"
    elif result.get("decision") == "ask":
        agreed = False if ask is None else ask(reason or "a hook asks whether to continue")
        if agreed is None:  # the caller asks: the verdict stays `ask`
            return ""
        if agreed:
            result["decision"] = "allow"
            return ""
        reason = f"{reason or 'a hook asked'} (no user could be asked)" if ask is None else reason or "refused"
    else:
        return ""
    result["decision"] = "deny"
    result["reason"] = reason
    return reason


def stops(kind: EventType, call: HandlerCall, once_denied: OnceDenied) -> bool:
    """True for a fault that stops the caller: that of a strict handler, or of a guard that did not run.

    Only one handler of an event that needs an answer runs, so each of its faults stops: there is no fallback.
    """
    if call.counts:
        return False
    if call.strict or kind.composition.needs_answer:
        return True
    handler = call.handler
    return call.outcome in NOT_RUN and (
        is_guard(handler, kind) or (can_become_guard(handler, kind) and once_denied(handler))
    )


_GOES_ON = {
    names.PRE_ABILITY_CALL: "the call goes on",
    names.USER_PROMPT_SUBMIT: "the prompt is sent",
    names.PRE_COMPACT: "the conversation is compacted",
    names.CONFIG_CHANGE: "the change takes effect",
}
"""What follows a fault that denies nothing, by the events that can be denied."""


def _warning(call: HandlerCall, goes_on: str) -> str:
    """The warning about a call; with `goes_on` if the event could have been denied and was not."""
    if call.outcome is Outcome.OK:
        return f"`{call.handler.name}` {call.message}"
    if not goes_on:
        return _fault(call)
    if call.would is not None:
        why = "only observed"
    elif call.outcome in NOT_RUN:
        why = "not a guard" if call.handler.role is None else f"there to {call.handler.role}"
    else:
        why = "not strict"
    return f"{_fault(call)}; {goes_on}, because `{call.handler.name}` is {why}"


def _fault(call: HandlerCall) -> str:
    return f"`{call.handler.name}` {call.outcome}: {call.message}"
