"""What a recorded event was about, in a few words: the tool and its input, or the message."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.printable import shorten
from samuel.journal.records import EventRecord

LONGEST_SUBJECT = 60


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
