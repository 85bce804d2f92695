"""What a handler, or all of them together, decided about an event: in the journal, and in a replay of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from samuel.base.decoding import decode_json
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import EventType
from samuel.events.compose import verdict as verdict_of
from samuel.hooks.guards import NOT_RUN
from samuel.hooks.handler import Outcome
from samuel.journal import CallRecord, EndRecord, redact

FINE = (Outcome.OK, Outcome.DENIED)
STRENGTH = {"allow": 0, "rewrite": 1, "ask": 2, "deny": 4}  # a fault has 3


class EventVerdict(NamedTuple):
    """A decision in one word, with its reason."""

    word: str  # allow, rewrite, ask or deny; of a handler with a fault, its outcome
    reason: str = ""
    rewritten: Mapping[str, Any] = {}  # the fields that were replaced, as the journal writes them
    observed: bool = False
    stops: bool = False

    def same(self, other: EventVerdict) -> bool:
        """True if the event goes the same way; the reasons may differ."""
        return self._effect == other._effect

    @property
    def _effect(self) -> tuple[object, ...]:
        # That a handler which has no objection is observed makes no difference.
        return self.word, self.rewritten, self.observed and self.word != ALLOW.word


ALLOW = EventVerdict("allow")


def recorded_verdicts(kind: EventType, calls: Iterable[CallRecord]) -> dict[str, EventVerdict]:
    """What each handler decided, by its name; of several calls of one the strongest."""
    return _strongest((call.handler, _recorded(kind, call)) for call in calls)


def replayed_verdicts(kind: EventType, calls: Iterable[HandlerCall]) -> dict[str, EventVerdict]:
    """The same for a replay."""
    return _strongest((call.handler.name, _replayed(kind, call)) for call in calls)


def recorded_decision(kind: EventType, end: EndRecord, verdicts: Iterable[EventVerdict]) -> EventVerdict:
    """What came of a recorded event."""
    result = end.result if isinstance(end.result, dict) else {}
    return _composed(end.stopped, end.reason, _rewritten(kind, result), list(verdicts))


def replayed_decision(kind: EventType, fired: Fired, verdicts: Iterable[EventVerdict]) -> EventVerdict:
    """What comes of it in a replay, in which every question is answered with yes."""
    result = _as_journalled(kind, fired.result)
    return _composed(fired.stopped, fired.reason, _rewritten(kind, result), list(verdicts))


def _composed(
    stopped: bool, reason: str, rewritten: Mapping[str, Any], verdicts: Sequence[EventVerdict]
) -> EventVerdict:
    enforced = [verdict for verdict in verdicts if not verdict.observed]
    question = next((verdict for verdict in enforced if verdict.word == "ask"), None)
    # Whether a person then agreed says nothing about the chain.
    if question and not any(verdict.stops for verdict in enforced if verdict.word != "ask"):
        return question._replace(rewritten={})
    if stopped:
        return EventVerdict("deny", reason, stops=True)
    return EventVerdict("rewrite", rewritten=rewritten) if rewritten else ALLOW


def _recorded(kind: EventType, call: CallRecord) -> EventVerdict:
    result = call.result if isinstance(call.result, dict) else {}
    word, reason = (call.would.verdict, call.would.reason) if call.would else ("", "")
    return _verdict(kind, call.outcome, word, reason or call.message, result, call)


def _replayed(kind: EventType, call: HandlerCall) -> EventVerdict:
    result = _as_journalled(kind, call.would.result if call.would else call.result)
    word, reason = (call.would.verdict, call.would.reason) if call.would else ("", "")
    return _verdict(kind, call.outcome, word, reason or call.message, result, call)


def _verdict(
    kind: EventType,
    outcome: str,
    would_be: str,
    message: str,
    result: Mapping[str, Any],
    call: CallRecord | HandlerCall,
) -> EventVerdict:
    observed = bool(would_be)
    if outcome not in FINE:
        return EventVerdict(outcome, message, {}, observed, call.strict or outcome in NOT_RUN)
    rewritten = _rewritten(kind, result) if call.phase != "guard" else {}
    decision = verdict_of(result)
    word = would_be or ("deny" if outcome == Outcome.DENIED else "ask" if decision.decision == "ask" else "")
    if word in ("deny", "ask"):
        return EventVerdict(word, message or decision.reason, {}, observed, True)
    return EventVerdict("rewrite" if rewritten else "allow", "", rewritten, observed)


def _strongest(verdicts: Iterable[tuple[str, EventVerdict]]) -> dict[str, EventVerdict]:
    strongest: dict[str, EventVerdict] = {}
    for name, verdict in verdicts:
        before = strongest.get(name)
        if before is None or STRENGTH.get(verdict.word, 3) > STRENGTH.get(before.word, 3):
            strongest[name] = verdict
    return strongest


def _rewritten(kind: EventType, result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: result[name] for name in kind.composition.rewrites if result.get(name) is not None}


def _as_journalled(kind: EventType, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result as it would be read from the journal: there a long value is cut, with its digest."""
    return decode_json(msgspec.json.encode(redact.result(result, kind.result))) or {}
