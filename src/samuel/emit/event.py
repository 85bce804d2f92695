"""`samuel emit EVENT`: an event of Samuel's own, with its context as a JSON object on stdin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError, UsageError
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.emit.call import DENY, FAULT, STDERR, STDOUT, EmitAnswer, EmitArguments
from samuel.emit.host import EmitHost, ReadStdin, failed, fire, lines, warnings_of
from samuel.events import Event, EventType, event_type
from samuel.files.explained import explained
from samuel.files.json import parse_json, within_limit


def failure_code(event: str) -> int:
    """The exit code of every failure: on an event that can be denied, whatever goes wrong denies it."""
    return DENY if event_type(event).composition.can_deny else FAULT


def answer_event(
    words: Sequence[str], arguments: EmitArguments, read_stdin: ReadStdin, host: EmitHost
) -> EmitAnswer:
    """Fire the event with the context on stdin; `words` is the command line, for the report of a bug."""
    failure = None
    try:
        failure = failure_code(arguments.event)
        event = _event(event_type(arguments.event), read_stdin(), arguments.session)
        with host.opened(arguments) as app:
            event = app.with_context(event)
            host.firing(app, event, _unanswered(failure))
            fired, follow_ups = fire(app, event, host.confirm)
            warnings = warnings_of(app, fired)
    except Exception as error:  # noqa: BLE001  the caller has to be answered, whatever happens here
        return failed(explained(error, words), failure)
    output = [
        *lines(STDERR, *fired.messages, *follow_ups, *(f"warning: {warning}" for warning in warnings)),
        (STDOUT, f"{_text(msgspec.json.encode(fired.result), indented=host.indented)}\n"),
    ]
    if fired.stopped and fired.reason not in fired.messages:  # which are there already
        output += lines(STDERR, fired.reason)
    return EmitAnswer(DENY if fired.stopped else 0, tuple(output), failure)


@cache
def _unanswered(failure: int) -> EmitAnswer:
    """The answer where this process does not live to give one."""
    return failed(SamuelError("samuel ended before the hooks did"), failure)


def _event(kind: EventType, data: bytes, session: str) -> Event:
    if kind.irreversible:
        hint = f"`samuel hooks fire {kind.name} --really` does it"
        raise UsageError(f"`{kind.name}` does what cannot be taken back", hint)
    event = event_from_context(kind, _context(data))
    if not session and event.session_id is UNSET:
        session = os.environ.get("SAMUEL_SESSION_ID", "")  # an agent that Samuel started need not know where it is
    return msgspec.structs.replace(event, session_id=session) if session else event


def _context(data: bytes) -> Any:
    within_limit(data, "stdin")
    return parse_json(data, "the context on stdin") if data.strip() else {}


def _text(result: bytes, *, indented: bool) -> str:
    if not indented:
        return result.decode()
    from samuel.base.printable_json import safe_json  # slow to import

    return safe_json(decode_json(result))
