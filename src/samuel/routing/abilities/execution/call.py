"""The record of one call of an ability, stored next to its `tool_call.md`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType


class CallStatus(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "failure"
    SKIPPED = "skipped"
    """A hook denied it."""
    KILLED = "killed"
    """It started, and the process that ran it died before it recorded a result."""


class AbilityCall(msgspec.Struct, frozen=True, omit_defaults=True):
    key: str
    ability_id: str
    created: str
    status: CallStatus
    operation_key: str = ""
    intent: str = ""
    """The purpose, in the caller's words."""
    environment: str = ""
    session: str = ""
    parent: str = ""
    """The call that this one is part of."""
    children: tuple[str, ...] = ()
    pid: int = 0
    """The process that runs it."""
    started: str = ""
    ended: str = ""
    duration_ms: float = 0
    ran: str = ""
    """The command or function that ran, in one line."""
    final_input: Any | UnsetType = UNSET
    """The input it ran with, if hooks changed it."""
    output: Any | UnsetType = UNSET
    output_replaced: bool = False
    """Whether hooks replaced the output."""
    messages: tuple[str, ...] = ()
    """The messages to the user of the hooks that denied it."""
    error: str = ""
    """Why it failed, was denied or was killed."""
    stderr: str = ""
    """The end of what it wrote to stderr."""


LONGEST_SUMMARY = 200  # characters
LARGEST_INDENTED = 64 * 1024  # bytes


def indented(value: object) -> bytes:
    """Indented JSON; large values stay on one line, since indenting deep ones could multiply their size."""
    data = msgspec.json.encode(value)
    return msgspec.json.format(data, indent=2) if len(data) <= LARGEST_INDENTED else data


def summary(value: object) -> str:
    """The value as one short line."""
    if isinstance(value, dict) and isinstance(text := value.get("summary"), str) and text.strip():
        return shortened(text)
    return shortened(msgspec.json.encode(value).decode())


def shortened(text: str, limit: int = LONGEST_SUMMARY) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[: limit - 1]}…"
