"""The events of the journal as they can be fired again, and what was decided then beside what is decided now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import convert, decode_json
from samuel.base.errors import SamuelError
from samuel.base.printable import shorten
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import Event, EventType
from samuel.events.catalogue import BY_NAME
from samuel.events.compose import verdict as verdict_of
from samuel.hooks.guards import NOT_RUN
from samuel.hooks.handler import Handler, Outcome, Role
from samuel.hooks.order import Chain
from samuel.journal import CallRecord, EndRecord, EventRecord, newest_first, redact

FINE = (Outcome.OK, Outcome.DENIED)
STRENGTH = {"allow": 0, "rewrite": 1, "ask": 2, "deny": 4}  # a fault has 3
LONGEST_SUBJECT = 60


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
    results = ((call, call.result if isinstance(call.result, dict) else {}) for call in calls)
    return _strongest((call.handler, _verdict(kind, result, call)) for call, result in results)


def replayed_verdicts(kind: EventType, calls: Iterable[HandlerCall]) -> dict[str, EventVerdict]:
    """The same for a replay."""
    results = ((call, call.would.result if call.would else call.result) for call in calls)
    return _strongest(
        (call.handler.name, _verdict(kind, _as_journalled(kind, result), call)) for call, result in results
    )


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


def _verdict(kind: EventType, result: Mapping[str, Any], call: CallRecord | HandlerCall) -> EventVerdict:
    outcome, would = call.outcome, call.would
    would_be, message = (would.verdict, would.reason or call.message) if would else ("", call.message)
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


class JournalledEvent(NamedTuple):
    """What the journal has about one event."""

    event: EventRecord
    calls: tuple[CallRecord, ...] = ()  # in the order in which they were made
    end: EndRecord | None = None  # None: the process was killed before


def recorded_events(
    root: Path, journal_dir: Path, names: Collection[str], since: float, limit: int
) -> list[JournalledEvent]:
    """The newest `limit` of the events with these names that were fired since then, the oldest first."""
    events: list[JournalledEvent] = []
    calls: dict[str, list[CallRecord]] = {}  # by event: its calls and its end are read before it
    ends: dict[str, EndRecord] = {}
    for record in newest_first(root, journal_dir):
        if record.at < since or len(events) >= limit:
            break
        if record.event not in names:
            continue
        if isinstance(record, CallRecord):
            calls.setdefault(record.event_id, []).insert(0, record)
        elif isinstance(record, EndRecord):
            ends[record.event_id] = record
        else:
            own_calls = tuple(calls.pop(record.event_id, ()))
            events.append(JournalledEvent(record, own_calls, ends.pop(record.event_id, None)))
    return events[::-1]


class NotReplayable(SamuelError):
    """A recorded event that cannot be replayed, and why."""


def replayed_chain(chain: Chain) -> Chain:
    """The chain without its observers: they tell other programs what happens, and it did not happen again."""
    return replace(chain, steps=tuple(step for step in chain.steps if not _only_observes(step.handler)))


def replayed_event(recorded: JournalledEvent, chain: Chain) -> Event:
    """The event that was recorded, with a new id and as a dry run; NotReplayable if the journal has too little."""
    kind = BY_NAME[recorded.event.event]
    if recorded.end is None:
        raise NotReplayable("it has no end: the process was killed")
    observers = {step.handler.name for step in chain.steps if _only_observes(step.handler)}
    for name, verdict in recorded_verdicts(kind, recorded.calls).items():
        if name in observers and verdict.stops:
            raise NotReplayable(f"`{name}` decided it, and observers are not replayed")
    try:
        payload = decode_json(bytes(recorded.event.payload))
        if cut := redact.incomplete(payload, kind.payload):
            raise NotReplayable(f"truncated: the journal has only the beginning of `{cut[0]}`")
        event: Event = convert(payload, kind.payload)
    except (msgspec.MsgspecError, RecursionError, AttributeError):
        raise NotReplayable("its payload is not one of this version") from None
    return replace(event, event_id="", dry_run=True)


def _only_observes(handler: Handler) -> bool:
    return handler.role is Role.OBSERVE


class HandlerComparison(NamedTuple):
    """What one handler decided; None: it was not called, which is no objection either."""

    handler: str
    recorded: EventVerdict | None
    today: EventVerdict | None

    @property
    def changed(self) -> bool:
        return not (self.recorded or ALLOW).same(self.today or ALLOW)


class EventComparison(NamedTuple):
    """One replayed event."""

    event_id: str
    event: str
    at: float
    subject: str  # the tool and its input, or the message
    recorded: EventVerdict
    today: EventVerdict
    handlers: tuple[HandlerComparison, ...]

    @property
    def decided_otherwise(self) -> bool:
        """True if what came of the event is different."""
        return not self.recorded.same(self.today)

    @property
    def changed(self) -> bool:
        """True if any verdict is different, even if nothing else came of the event."""
        return self.decided_otherwise or any(handler.changed for handler in self.handlers)


def compare(recorded: JournalledEvent, fired: Fired) -> EventComparison:
    """`recorded`, which has an end, beside the outcome of its replay."""
    kind, record = BY_NAME[recorded.event.event], recorded.event
    assert recorded.end is not None
    then, today = recorded_verdicts(kind, recorded.calls), replayed_verdicts(kind, fired.calls)
    return EventComparison(
        record.event_id,
        kind.name,
        record.at,
        subject(record),
        recorded_decision(kind, recorded.end, then.values()),
        replayed_decision(kind, fired, today.values()),
        tuple(HandlerComparison(name, then.get(name), today.get(name)) for name in dict.fromkeys((*then, *today))),
    )


def subject(record: EventRecord) -> str:
    """For example `shell git push`; "" for an event that has neither a tool nor a message."""
    try:
        payload: Any = decode_json(bytes(record.payload))
    except (msgspec.MsgspecError, RecursionError):
        return ""
    if not isinstance(payload, dict):
        return ""
    words = [payload.get("ability_id"), _input(payload.get("tool_input")), payload.get("user_message")]
    return shorten(" ".join(" ".join(word.split()) for word in words if isinstance(word, str)), LONGEST_SUBJECT)


def _input(tool_input: object) -> str:
    """The first text in the input of a tool: its command, or the file it is about."""
    values = tool_input.values() if isinstance(tool_input, dict) else (tool_input,)
    return next((value for value in values if isinstance(value, str)), "")
