"""Was that a yes? Strictness is judged when the chain has run to its end, never in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import Event, EventType, LoopEvent
from samuel.hooks.guards import NOT_RUN, is_guard
from samuel.hooks.handler import Outcome

OK = Outcome.OK


def judge(
    kind: EventType,
    event: Event,
    result: Mapping[str, Any],
    calls: Sequence[HandlerCall],
    chain_warnings: Sequence[str],
    ask: Callable[[str], bool] | None,
) -> Fired:
    """The verdict on a whole event.

    A denial is honoured whether strict or not. A fault of a strict handler stops what fired the event; on an
    event that can be denied it denies, and so does a guard that could not be run. Any other fault is a warning.
    """
    result = dict(result)
    noted = [call for call in calls if call.outcome is not OK or call.message]
    faults = [call for call in noted if not call.counts]
    # Only one handler of such an event runs: if it fails there is nobody to fall back to.
    alone = kind.composition.needs_answer
    strict_faults = [call for call in faults if call.strict or alone or _unguarded(kind, call)]
    if kind.composition.can_deny:
        reason = _settle(result, calls, strict_faults, ask)
    elif kind.composition.needs_answer and not calls:
        reason = f"no handler runs on `{kind.name}`; `samuel hooks explain {kind.name}` shows why"
    else:
        reason = _said(strict_faults[0]) if strict_faults else ""
        if kind.family == "session":  # a verdict that nobody asked for is none
            result = {key: value for key, value in result.items() if key not in ("decision", "blocked")}

    # A denial is the reason, and no warning besides.
    told = [call for call in noted if call.outcome is not Outcome.DENIED or call.message != reason]
    warnings = [*chain_warnings, *[_warning(call) for call in told]]
    if reason and not calls:
        warnings.append(reason)
    if reason and "ok" in result:
        result["ok"] = False
    if kind.composition.completes:
        in_force = {name: msgspec.to_builtins(getattr(event, name)) for name in kind.composition.rewrites}
        result = {**result, **in_force}
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


def _settle(
    result: dict[str, Any],
    calls: Sequence[HandlerCall],
    strict_faults: Sequence[HandlerCall],
    ask: Callable[[str], bool] | None,
) -> str:
    """Make the decision final, write it into the result, and give the reason if it is a no."""
    reason = str(result.get("reason") or "")
    denial = next((call for call in calls if call.outcome is Outcome.DENIED), None)
    if denial is not None:
        reason = reason or denial.message
    elif strict_faults:
        first = strict_faults[0]
        why = "a guard that fails denies" if first.outcome not in NOT_RUN else "a guard that cannot run denies"
        reason = f"{_said(first)}; {why}"
    elif result.get("decision") == "ask":
        if ask is not None and ask(reason or "A hook asks whether to go on."):
            result["decision"] = "allow"
            return ""
        reason = f"{reason or 'a hook asked'} (there was nobody to ask)" if ask is None else reason or "refused"
    else:
        return ""
    result["decision"] = "deny"
    result["reason"] = reason
    return reason


def _unguarded(kind: EventType, call: HandlerCall) -> bool:
    """A guard that never saw the event did not let it through."""
    return call.outcome in NOT_RUN and is_guard(call.handler, kind)


def _warning(call: HandlerCall) -> str:
    return f"`{call.handler.name}` {call.message}" if call.outcome is Outcome.OK else _said(call)


def _said(call: HandlerCall) -> str:
    return f"`{call.handler.name}` {call.outcome}: {call.message}"
