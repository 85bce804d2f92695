"""The record of one session, and the pure function that adds the result of an event to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.events import compose, names
from samuel.git.git import WorkTreeState

# Limits: a session may last for days. Of each kind the newest stay.
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
    """An action that a hook proposes. None is carried out without permission."""

    number: int
    kind: str  # open_file, run_command, create_task
    payload: dict[str, Any]
    at: str
    event: str
    state: str = QUEUED
    note: str = ""  # the result, or what it waits for

    @property
    def waits(self) -> bool:
        return self.state in (QUEUED, LISTED)


class Session(msgspec.Struct, frozen=True):
    id: str
    started: str
    stopped: str = ""
    ended: str = ""
    refused: str = ""  # why a hook refused its start, which ends it
    stage: str = ""  # the last stage of work that an event reported
    messages: tuple[Message, ...] = ()
    # What hooks suggested to routing since the last prompt, as plain values of a HookResult.
    suggestions: tuple[dict[str, Any], ...] = ()  # abilities
    documents: tuple[dict[str, Any], ...] = ()
    intent: dict[str, Any] | None = None
    follow_ups: tuple[FollowUp, ...] = ()
    tree: WorkTreeState | None = None  # the work tree when it began, to tell later which files changed

    @property
    def state(self) -> str:
        return "ended" if self.ended else "stopped" if self.stopped else "open"

    @property
    def last_number(self) -> int:
        return max((action.number for action in self.follow_ups), default=0)


def add_result(session: Session, event: str, result: Mapping[str, Any], at: str, stage: str = "") -> Session:
    """The session with the result of one more event. A new prompt discards the hints so far."""
    before = replace(session, suggestions=(), documents=(), intent=None) if event == _PROMPT else session
    merged = compose.merge(
        [
            compose.HandlerResult("", 0, {"suggested_abilities": list(before.suggestions)}),
            compose.HandlerResult("", 0, {"suggested_abilities": result.get("suggested_abilities") or []}),
        ]
    )
    messages = (Message(at, event, text[:LONGEST]) for text in result.get("messages_to_user") or ())
    return replace(
        before,
        messages=(*before.messages, *messages)[-MOST_MESSAGES:],
        suggestions=tuple(merged.get("suggested_abilities", ()))[-MOST_HINTS:],
        documents=_by_path((*before.documents, *(result.get("suggested_documents") or ()))),
        intent=result.get("new_intent") or before.intent,
        follow_ups=_without_repeats((*before.follow_ups, *_proposed(before, event, result, at))),
        stopped=at if event == names.SESSION_STOP else "" if event == _PROMPT else before.stopped,
        ended=at if event == names.SESSION_END else before.ended,
        stage=stage or before.stage,
    )


_PROMPT = names.USER_PROMPT_SUBMIT


def _by_path(documents: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Each document once, with its latest entry."""
    return tuple({str(document.get("path")): document for document in documents}.values())[-MOST_HINTS:]


def _proposed(session: Session, event: str, result: Mapping[str, Any], at: str) -> Iterable[FollowUp]:
    """The actions in a result, each with its own keys below `payload` or beside `kind`: both forms are in use."""
    for number, action in enumerate(result.get("follow_up_actions") or (), session.last_number + 1):
        beside = {key: value for key, value in action.items() if key not in ("kind", "payload")}
        yield FollowUp(number, str(action["kind"]), {**beside, **(action.get("payload") or {})}, at, event)


def _without_repeats(follow_ups: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
    """Of equal actions that wait, only the newest: hooks may propose the same at every turn."""
    waiting: list[tuple[str, dict[str, Any]]] = []
    newest_first: list[FollowUp] = []
    for action in reversed(list(follow_ups)):
        if action.waits and (action.kind, action.payload) in waiting:
            continue
        waiting.append((action.kind, action.payload))
        newest_first.append(action)
    return tuple(reversed(newest_first))[-MOST_FOLLOW_UPS:]
