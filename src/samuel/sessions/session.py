"""One session, and what each event adds to it: a record, and a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.events import compose, names
from samuel.process.git import WorkTree

# Of each kind the newest are kept: a session may last for days.
MOST_MESSAGES = 200
MOST_HINTS = 50
MOST_FOLLOW_UPS = 200
LONGEST = 4096  # characters of one message

QUEUED, LISTED, DONE, FAILED = "queued", "listed", "done", "failed"


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


class Session(msgspec.Struct, frozen=True):
    id: str
    started: str
    stopped: str = ""
    ended: str = ""
    messages: tuple[Message, ...] = ()
    suggestions: tuple[dict[str, Any], ...] = ()  # abilities, since the last prompt
    documents: tuple[dict[str, Any], ...] = ()  # likewise
    intent: dict[str, Any] | None = None  # likewise
    follow_ups: tuple[FollowUp, ...] = ()
    tree: WorkTree | None = None  # the work tree when it began: what differs from it later was changed meanwhile

    @property
    def state(self) -> str:
        return "ended" if self.ended else "stopped" if self.stopped else "open"


class Hints(NamedTuple):
    """What the hooks of a session say to routing, as plain values of a HookResult."""

    suggestions: tuple[dict[str, Any], ...] = ()
    documents: tuple[dict[str, Any], ...] = ()
    intent: dict[str, Any] | None = None


def hints(session: Session) -> Hints:
    return Hints(session.suggestions, session.documents, session.intent)


def heard(session: Session, event: str, result: Mapping[str, Any], at: str) -> Session:
    """The session with what came of one more event. A new prompt begins with new hints."""
    before = replace(session, suggestions=(), documents=(), intent=None) if event == _PROMPT else session
    both = compose.merge(
        [
            compose.Answer("", 0, {"suggested_abilities": list(before.suggestions)}),
            compose.Answer("", 0, {"suggested_abilities": result.get("suggested_abilities") or []}),
        ]
    )
    messages = (Message(at, event, text[:LONGEST]) for text in result.get("messages_to_user") or ())
    return replace(
        before,
        messages=(*before.messages, *messages)[-MOST_MESSAGES:],
        suggestions=tuple(both.get("suggested_abilities", ()))[-MOST_HINTS:],
        documents=_by_path((*before.documents, *(result.get("suggested_documents") or ()))),
        intent=result.get("new_intent") or before.intent,
        follow_ups=(*before.follow_ups, *_proposed(before, event, result, at))[-MOST_FOLLOW_UPS:],
        stopped=at if event == names.SESSION_STOP else "" if event == _PROMPT else before.stopped,
        ended=at if event == names.SESSION_END else before.ended,
    )


_PROMPT = names.USER_PROMPT_SUBMIT


def _by_path(documents: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Each once: what was said last of it."""
    return tuple({str(one.get("path")): one for one in documents}.values())[-MOST_HINTS:]


def _proposed(session: Session, event: str, result: Mapping[str, Any], at: str) -> Iterable[FollowUp]:
    """REPO writes what an action is about below `payload`, or beside `kind`."""
    first = 1 + max((one.number for one in session.follow_ups), default=0)
    for number, action in enumerate(result.get("follow_up_actions") or (), first):
        beside = {key: value for key, value in action.items() if key not in ("kind", "payload")}
        yield FollowUp(number, str(action["kind"]), {**beside, **(action.get("payload") or {})}, at, event)
