"""One session, and what each event adds to it: a record, and a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.events import compose, names
from samuel.process.git.git import WorkTreeState

# Of each kind the newest are kept: a session may last for days.
MOST_MESSAGES = 200
MOST_HINTS = 50
MOST_FOLLOW_UPS = 200
LONGEST = 4096  # characters of one message

QUEUED, LISTED, DONE, FAILED, DROPPED = "queued", "listed", "done", "failed", "dropped"


class Message(msgspec.Struct, frozen=True):
    at: str
    event: str
    text: str


class FollowUp(msgspec.Struct, frozen=True):
    """Something that a hook proposes. Nothing is done by itself."""

    number: int
    kind: str  # open_file, run_command, create_task
    payload: dict[str, Any]
    at: str
    event: str
    state: str = QUEUED
    note: str = ""  # what became of it, or what it waits for

    @property
    def waits(self) -> bool:
        return self.state in (QUEUED, LISTED)


class Session(msgspec.Struct, frozen=True):
    id: str
    started: str
    stopped: str = ""
    ended: str = ""
    refused: str = ""  # why a hook stopped it at its start; it is over then
    stage: str = ""  # where the work stood when somebody last said so
    messages: tuple[Message, ...] = ()
    # What hooks said to routing since the last prompt, as plain values of a HookResult.
    suggestions: tuple[dict[str, Any], ...] = ()  # abilities
    documents: tuple[dict[str, Any], ...] = ()
    intent: dict[str, Any] | None = None
    follow_ups: tuple[FollowUp, ...] = ()
    tree: WorkTreeState | None = (
        None  # the work tree when it began: what differs from it later was changed meanwhile
    )

    @property
    def state(self) -> str:
        return "ended" if self.ended else "stopped" if self.stopped else "open"

    @property
    def last_number(self) -> int:
        return max((one.number for one in self.follow_ups), default=0)


def heard(session: Session, event: str, result: Mapping[str, Any], at: str, stage: str = "") -> Session:
    """The session with what came of one more event. A new prompt begins with new hints."""
    before = replace(session, suggestions=(), documents=(), intent=None) if event == _PROMPT else session
    both = compose.merge(
        [
            compose.HandlerResult("", 0, {"suggested_abilities": list(before.suggestions)}),
            compose.HandlerResult("", 0, {"suggested_abilities": result.get("suggested_abilities") or []}),
        ]
    )
    messages = (Message(at, event, text[:LONGEST]) for text in result.get("messages_to_user") or ())
    return replace(
        before,
        messages=(*before.messages, *messages)[-MOST_MESSAGES:],
        suggestions=tuple(both.get("suggested_abilities", ()))[-MOST_HINTS:],
        documents=_by_path((*before.documents, *(result.get("suggested_documents") or ()))),
        intent=result.get("new_intent") or before.intent,
        follow_ups=_each_once((*before.follow_ups, *_proposed(before, event, result, at))),
        stopped=at if event == names.SESSION_STOP else "" if event == _PROMPT else before.stopped,
        ended=at if event == names.SESSION_END else before.ended,
        stage=stage or before.stage,
    )


_PROMPT = names.USER_PROMPT_SUBMIT


def _by_path(documents: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Each once: what was said last of it."""
    return tuple({str(one.get("path")): one for one in documents}.values())[-MOST_HINTS:]


def _proposed(session: Session, event: str, result: Mapping[str, Any], at: str) -> Iterable[FollowUp]:
    """The actions in a result, each with its own keys below `payload` or beside `kind`: both forms are in use."""
    for number, action in enumerate(result.get("follow_up_actions") or (), session.last_number + 1):
        beside = {key: value for key, value in action.items() if key not in ("kind", "payload")}
        yield FollowUp(number, str(action["kind"]), {**beside, **(action.get("payload") or {})}, at, event)


def _each_once(follow_ups: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
    """Of those that wait for somebody, what was said last: hooks may say the same at every turn."""
    seen: list[tuple[str, dict[str, Any]]] = []
    kept: list[FollowUp] = []
    for one in reversed(list(follow_ups)):
        if one.waits and (one.kind, one.payload) in seen:
            continue
        seen.append((one.kind, one.payload))
        kept.append(one)
    return tuple(reversed(kept))[-MOST_FOLLOW_UPS:]
