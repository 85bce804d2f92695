"""How the answers of a chain become one result: a pure function per rule.

Most rules are a step: the result so far and one more answer give the next result, which is also what the next
handler sees as `previous`. The HookResult rule looks at all answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import reduce
from types import MappingProxyType
from typing import Any, NamedTuple


class HandlerResult(NamedTuple):
    """What one handler returned."""

    source: str
    precedence: int  # higher: nearer to the project
    result: Mapping[str, Any]


Result = Mapping[str, Any]
Fold = Callable[[Result, Result], dict[str, Any]]  # the result so far, one more answer's -> the next
Compose = Callable[[Sequence[HandlerResult]], dict[str, Any]]


class Arrange(Enum):
    """In which way the handlers of a chain are called."""

    IN_TURN = "one after another"
    LAST_ONLY = "only the last"
    TOGETHER = "at the same time"
    REWRITE_THEN_GUARD = "one after another, and again those who have not seen the final input"


class Composition(NamedTuple):
    """A rule, and what the dispatcher must know to apply it."""

    name: str
    arrange: Arrange
    step: Fold | None = None
    over_all: Compose | None = None
    empty: Result = MappingProxyType({})  # the result when nobody answers
    rewrites: tuple[str, ...] = ()  # result fields that replace the payload's for the next handler
    completes: bool = False  # the result has all of these fields, also those that nobody changed
    can_deny: bool = False
    keeps_failed: bool = False  # the answer of a handler that said `ok: false` is part of the result
    needs_answer: bool = False  # whoever fires the event cannot go on without a handler that did its work

    def compose(self, answers: Sequence[HandlerResult]) -> dict[str, Any]:
        """The result of these answers, in chain order."""
        if not answers:
            return dict(self.empty)
        if self.step is None:
            assert self.over_all is not None
            return self.over_all(answers)
        return reduce(self.step, (answer.result for answer in answers), dict(self.empty))


# the rules


def all_ok(composed: Result, result: Result) -> dict[str, Any]:
    """Every handler must be ok; a missing `ok` means true. Reasons are kept in order, `skip` is or-ed."""
    joined = _joined(composed, result, skip=("ok", "reason", "reasons", "skip"))
    # Failures with no word on `ok` are a no: a check must not pass because it forgot a key.
    joined["ok"] = bool(composed.get("ok", True) and result.get("ok", not result.get("failures")))
    reasons = [*composed.get("reasons", ()), *([result["reason"]] if result.get("reason") else ())]
    if reasons:
        joined["reasons"] = reasons
    if composed.get("skip") or result.get("skip"):
        joined["skip"] = True
    return joined


def concatenate(composed: Result, result: Result) -> dict[str, Any]:
    """Lists join in chain order; of anything else the last stays."""
    return _joined(composed, result)


def last_given(composed: Result, result: Result) -> dict[str, Any]:
    """Of each key the last value that anybody gave; a handler that leaves a key out leaves it as it is."""
    return {**composed, **{key: value for key, value in result.items() if value is not None and key != "data"}}


def merge(answers: Sequence[HandlerResult]) -> dict[str, Any]:
    """The HookResult rule: lists join, the strongest verdict holds, hints are kept once."""
    composed: dict[str, Any] = {}
    for answer in answers:
        composed = _joined(composed, answer.result, skip=_MERGED_BY_NAME)

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


class Decision(NamedTuple):
    decision: str = ""  # "" is no opinion
    reason: str = ""
    source: str = ""


STRENGTH = {"": 0, "allow": 1, "ask": 2, "deny": 3}


def verdict(result: Mapping[str, Any], source: str = "") -> Decision:
    """The verdict in one answer, in any of the spellings of it."""
    said = str(result.get("decision") or "")
    error = str(result.get("error") or "")
    if result.get("blocked") is True or error.startswith("blocked"):
        said = "deny"
    reason = str(result.get("reason") or (error if said == "deny" else ""))
    return Decision(said if said in STRENGTH else "", reason, source)


def strongest_verdict(answers: Sequence[HandlerResult]) -> Decision:
    """deny > ask > allow > no opinion; of equals the first in the chain."""
    strongest = Decision()
    for answer in answers:
        found = verdict(answer.result, answer.source)
        if STRENGTH[found.decision] > STRENGTH[strongest.decision]:
            strongest = found
    return strongest


# parts of the rules

_MERGED_BY_NAME = (
    *("decision", "reason", "blocked", "ok", "error", "errors", "usage_recorded"),
    *("suggested_abilities", "new_intent", "tool_input", "tool_output"),
)


def _joined(composed: Result, result: Result, skip: Sequence[str] = ()) -> dict[str, Any]:
    """With one more answer: lists grow, other values take the last. `data` is its handler's own."""
    joined = {**composed}
    for key, value in result.items():
        if value is None or key == "data" or key in skip:
            continue
        known = joined.get(key)
        joined[key] = known + value if type(known) is list and type(value) is list else value
    return joined


def _best_suggestions(answers: Sequence[HandlerResult]) -> list[dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for suggestion in answer.result.get("suggested_abilities") or ():
            known = best.get(suggestion["id"])
            if known is None or (suggestion.get("confidence") or 0) > (known.get("confidence") or 0):
                best[suggestion["id"]] = suggestion
    return list(best.values())


def _settle_intent(composed: dict[str, Any], answers: Sequence[HandlerResult]) -> None:
    """The intent of the highest precedence holds (of equals, the last in the chain); others are logged."""
    with_intent = [answer for answer in answers if answer.result.get("new_intent")]
    if not with_intent:
        return
    chosen = with_intent[0]
    for answer in with_intent[1:]:
        if answer.precedence >= chosen.precedence:
            chosen = answer
    composed["new_intent"] = chosen.result["new_intent"]
    passed_over = [
        {
            "level": "info",
            "message": f"intent of `{other.source}` not used: `{chosen.source}` has the last word",
        }
        for other in with_intent
        if other is not chosen
    ]
    if passed_over:
        composed["logs"] = [*composed.get("logs", []), *passed_over]
