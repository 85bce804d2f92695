"""How the answers of a chain become one result: a pure function per rule.

Each rule takes the answers in chain order and gives the composed result. The rules of handlers that run one
after another are also used half-way: what came of the handlers so far is the next one's `previous`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What one handler returned."""

    source: str
    precedence: int  # higher: nearer to the project
    result: Mapping[str, Any]


Compose = Callable[[Sequence[Answer]], dict[str, Any]]


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
    compose: Compose
    empty: Mapping[str, Any] = {}  # the result when nobody answers
    rewrites: tuple[str, ...] = ()  # result fields that replace the payload's for the next handler
    completes: bool = False  # the result has all of these fields, also those that nobody changed
    can_deny: bool = False
    keeps_failed: bool = False  # the answer of a handler that said `ok: false` is part of the result

    @property
    def shows_previous(self) -> bool:
        return self.arrange in (Arrange.IN_TURN, Arrange.REWRITE_THEN_GUARD)


# the rules


def all_ok(answers: Sequence[Answer]) -> dict[str, Any]:
    """Every handler must be ok; a missing `ok` means true. Reasons are kept in order, `skip` is or-ed."""
    composed: dict[str, Any] = {}
    reasons: list[str] = []
    ok = True
    for answer in answers:
        _join(composed, answer.result, skip=("ok", "reason", "reasons", "skip"))
        # Failures with no word on `ok` are a no: a check must not pass because it forgot a key.
        ok &= bool(answer.result.get("ok", not answer.result.get("failures")))
        reasons += answer.result.get("reasons") or (
            [answer.result["reason"]] if answer.result.get("reason") else []
        )
        if answer.result.get("skip"):
            composed["skip"] = True
    composed["ok"] = ok
    if reasons:
        composed["reasons"] = reasons
    return composed


def concatenate(answers: Sequence[Answer]) -> dict[str, Any]:
    """Lists join in chain order; of anything else the last stays."""
    composed: dict[str, Any] = {}
    for answer in answers:
        _join(composed, answer.result)
    return composed


def last_given(answers: Sequence[Answer]) -> dict[str, Any]:
    """Of each key the last value that anybody gave; a handler that leaves a key out leaves it as it is."""
    composed: dict[str, Any] = {}
    for answer in answers:
        composed.update(
            (key, value) for key, value in answer.result.items() if value is not None and key != "data"
        )
    return composed


def replace(answers: Sequence[Answer]) -> dict[str, Any]:
    """The answer of the only handler that ran."""
    return dict(answers[-1].result) if answers else {}


def merge(answers: Sequence[Answer]) -> dict[str, Any]:
    """The HookResult rule: lists join, the strongest verdict holds, hints are kept once."""
    composed: dict[str, Any] = {}
    for answer in answers:
        _join(composed, answer.result, skip=_MERGED_BY_NAME)

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
            if rewritten in answer.result:
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


def strongest_verdict(answers: Sequence[Answer]) -> Decision:
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


def _join(composed: dict[str, Any], result: Mapping[str, Any], skip: Sequence[str] = ()) -> None:
    """Add one answer: lists grow, other values take the last. `data` is its handler's own."""
    for key, value in result.items():
        if key == "data" or key in skip or value is None:
            continue
        if isinstance(value, list) and isinstance(composed.get(key), list):
            composed[key] = composed[key] + value
        else:
            composed[key] = value


def _best_suggestions(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for suggestion in answer.result.get("suggested_abilities") or ():
            known = best.get(suggestion["id"])
            if known is None or (suggestion.get("confidence") or 0) > (known.get("confidence") or 0):
                best[suggestion["id"]] = suggestion
    return list(best.values())


def _settle_intent(composed: dict[str, Any], answers: Sequence[Answer]) -> None:
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
