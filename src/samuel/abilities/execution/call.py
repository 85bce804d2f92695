"""One call of an ability, as it is kept beside its `tool_call.md`."""

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
    """A hook said no."""
    KILLED = "killed"
    """It began, and whoever ran it was gone before it could say how it ended."""


class AbilityCall(msgspec.Struct, frozen=True, omit_defaults=True):
    key: str
    ability_id: str
    created: str
    status: CallStatus
    operation_key: str = ""
    intent: str = ""
    """What for, in the caller's words."""
    environment: str = ""
    session: str = ""
    parent: str = ""
    """The call that this one is part of."""
    children: tuple[str, ...] = ()
    pid: int = 0
    """Who runs it."""
    started: str = ""
    ended: str = ""
    duration_ms: float = 0
    ran: str = ""
    """What really ran, in one line."""
    final_input: Any | UnsetType = UNSET
    """What it was given, where hooks changed what was asked for."""
    output: Any | UnsetType = UNSET
    output_replaced: bool = False
    """Hooks put another output in its place."""
    messages: tuple[str, ...] = ()
    """What the hooks that denied it want the person to know."""
    error: str = ""
    """Why it failed, was denied, or is not known to have ended."""
    stderr: str = ""
    """The end of what it said besides."""


LONGEST_SUMMARY = 200  # characters
LARGEST_INDENTED = 64 * 1024  # bytes


def indented(value: object) -> bytes:
    """As JSON for people. What is large stays in one line: deep and wide, it would grow a hundred times."""
    data = msgspec.json.encode(value)
    return msgspec.json.format(data, indent=2) if len(data) <= LARGEST_INDENTED else data


def summary(value: object) -> str:
    """A value in one short line."""
    if isinstance(value, dict) and isinstance(said := value.get("summary"), str) and said.strip():
        return shortened(said)
    return shortened(msgspec.json.encode(value).decode())


def shortened(text: str, most: int = LONGEST_SUMMARY) -> str:
    said = " ".join(text[: 4 * most].split())
    return said if len(said) <= most and len(text) <= 4 * most else f"{said[: most - 1]}…"
