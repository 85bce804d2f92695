"""How the results of a chain's handlers are composed into one: a pure function per rule.

Most rules are a fold step: the result so far and one more handler's result give the next result, which is also
what the next handler sees as `previous`. The HookResult rule (`merge`) looks at all results at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import reduce
from types import MappingProxyType
from typing import Any

import msgspec


class HandlerResult(msgspec.Struct, frozen=True):
    """The result of one handler, and whose it is."""

    source: str  # the handler's name
    precedence: int  # higher: nearer to the project
    result: Mapping[str, Any]


Result = Mapping[str, Any]
Fold = Callable[[Result, Result], dict[str, Any]]  # the result so far, the next handler's result -> the new result
Compose = Callable[[Sequence[HandlerResult]], dict[str, Any]]


class Arrange(Enum):
    """The order and concurrency in which the handlers of a chain are called."""

    IN_TURN = "one after another"
    LAST_ONLY = "only the last"
    TOGETHER = "at the same time"
    REWRITE_THEN_GUARD = "one after another, and again those that have not seen the final input"


class Composition(msgspec.Struct, frozen=True):
    """A composition rule, and what the dispatcher must know to apply it."""

    name: str
    arrange: Arrange
    step: Fold | None = None
    over_all: Compose | None = None
    empty: Result = MappingProxyType({})  # the result when no handler returned one
    rewrites: tuple[str, ...] = ()  # result fields that replace the payload's for the next handler
    completes: bool = False  # the result has all `rewrites` fields, also those that no handler changed
    can_deny: bool = False
    keeps_failed: bool = False  # the result of a handler with `ok: false` is composed too
    needs_answer: bool = False  # without a handler that succeeded, the caller cannot continue

    def compose(self, answers: Sequence[HandlerResult]) -> dict[str, Any]:
        """The composed result of these handler results, in chain order."""
        if not answers:
            return dict(self.empty)
        if self.step is None:
            assert self.over_all is not None
            return self.over_all(answers)
        return reduce(self.step, (answer.result for answer in answers), dict(self.empty))


# the rules


def all_ok(composed: Result, result: Result) -> dict[str, Any]:
    """Every handler must be ok; a missing `ok` means true. Reasons are kept in order, `skip` is or-ed."""
    joined = concatenate(composed, result, skip=("ok", "reason", "reasons", "skip"))
    # Failures without `ok` mean false: a check must not pass because it left out a key.
    joined["ok"] = bool(composed.get("ok", True) and result.get("ok", not result.get("failures")))
    reasons = [*composed.get("reasons", ()), *([result["reason"]] if result.get("reason") else ())]
    if reasons:
        joined["reasons"] = reasons
    if composed.get("skip") or result.get("skip"):
        joined["skip"] = True
    return joined


def concatenate(composed: Result, result: Result, skip: Sequence[str] = ()) -> dict[str, Any]:
    """Lists are concatenated in chain order; of other values the last one is kept. Not `data`, nor `skip`."""
    joined = {**composed}
    for key, value in result.items():
        if value is None or key == "data" or (skip and key in skip):
            continue
        value_so_far = joined.get(key)
        joined[key] = value_so_far + value if type(value_so_far) is list and type(value) is list else value
    return joined


def last_value(composed: Result, result: Result) -> dict[str, Any]:
    """The last value of each key that is not null; a handler that leaves a key out does not change it."""
    return {**composed, **{key: value for key, value in result.items() if value is not None and key != "data"}}


def candidates(answers: Sequence[HandlerResult]) -> dict[str, Any]:
    """Every result by itself, in chain order and with the name of its handler: the caller chooses one."""
    results = [
        {key: value for key, value in answer.result.items() if key not in ("ok", "reason", "data")}
        for answer in answers
    ]
    named = zip(answers, results, strict=True)
    return {"candidates": [{"handler": answer.source, **result} for answer, result in named if result]}


def merge(answers: Sequence[HandlerResult]) -> dict[str, Any]:
    """The HookResult rule: lists are concatenated, the strongest verdict wins, an ability is suggested once."""
    composed: dict[str, Any] = {}
    for answer in answers:
        composed = concatenate(composed, answer.result, skip=_MERGED_BY_NAME)

    if abilities := _best_suggestions(answers):
        composed["suggested_abilities"] = abilities
    if any(answer.result.get("usage_recorded") for answer in answers):
        composed["usage_recorded"] = True
    if errors := [str(answer.result["error"]) for answer in answers if answer.result.get("error")]:
        composed["error"] = errors[0]
        if len(errors) > 1:
            composed["errors"] = errors
    for rewritten in ("tool_input", "tool_output"):
        for answer in answers:
            if answer.result.get(rewritten) is not None:  # null leaves it as it is
                composed[rewritten] = answer.result[rewritten]
    _settle_intent(composed, answers)
    strongest = strongest_verdict(answers)
    if strongest.decision:
        composed["decision"] = strongest.decision
        if strongest.reason:
            composed["reason"] = strongest.reason
    return composed


# verdicts


class Decision(msgspec.Struct, frozen=True):
    """Whether a call is allowed, with the reason and the handler that decided."""

    decision: str = ""  # "" is no opinion
    reason: str = ""
    source: str = ""


STRENGTH = {"": 0, "allow": 1, "ask": 2, "deny": 3}


def verdict(result: Mapping[str, Any], source: str = "") -> Decision:
    """The verdict in a handler's result: `decision`, `blocked: true`, or an `error` that begins with `blocked`."""
    decision = str(result.get("decision") or "")
    error = str(result.get("error") or "")
    if result.get("blocked") is True or error.startswith("blocked"):
        decision = "deny"
    reason = str(result.get("reason") or (error if decision == "deny" else ""))
    return Decision(decision if decision in STRENGTH else "", reason, source)


def strongest_verdict(answers: Sequence[HandlerResult]) -> Decision:
    """The strongest verdict: deny > ask > allow > no opinion; of equal ones the first in the chain."""
    strongest = Decision()
    for answer in answers:
        decision = verdict(answer.result, answer.source)
        if STRENGTH[decision.decision] > STRENGTH[strongest.decision]:
            strongest = decision
    return strongest


# parts of the rules

_MERGED_BY_NAME = (
    *("decision", "reason", "blocked", "ok", "error", "errors", "usage_recorded"),
    *("suggested_abilities", "new_intent", "tool_input", "tool_output"),
)


def _best_suggestions(answers: Sequence[HandlerResult]) -> list[dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for suggestion in answer.result.get("suggested_abilities") or ():
            best_so_far = best.get(suggestion["id"])
            if best_so_far is None or (suggestion.get("confidence") or 0) > (best_so_far.get("confidence") or 0):
                best[suggestion["id"]] = suggestion
    return list(best.values())


def _settle_intent(composed: dict[str, Any], answers: Sequence[HandlerResult]) -> None:
    """Use the intent of the highest precedence (of equal ones, the last in the chain) and log the others."""
    with_intent = [answer for answer in answers if answer.result.get("new_intent")]
    if not with_intent:
        return
    chosen = with_intent[0]
    for answer in with_intent[1:]:
        if answer.precedence >= chosen.precedence:
            chosen = answer
    composed["new_intent"] = chosen.result["new_intent"]
    logs = [
        {
            "level": "info",
            "message": f"intent of `{other.source}` not used: `{chosen.source}` has the last word",
        }
        for other in with_intent
        if other is not chosen
    ]
    if logs:
        composed["logs"] = [*composed.get("logs", []), *logs]
