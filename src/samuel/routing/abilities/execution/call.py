"""The record of one call of an ability, and `tool_call.md`, the same for people and agents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from samuel.base.printable import safe


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
LONGEST = 32 * 1024  # characters of one value; the files next to it have all of it

_TICKS = re.compile(r"`+")


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


def tool_call(call: AbilityCall, original_input: Any) -> str:
    """The text of `tool_call.md`. `original_input` is the input before hooks changed it."""
    blocks = [safe("\n".join(_facts(call))), _json("Input", original_input)]
    if call.final_input is not UNSET:
        blocks.append(_json("Final input", call.final_input))
    if call.output is not UNSET:
        blocks.append(_json("Output, as hooks left it" if call.output_replaced else "Output", call.output))
    if call.error:
        blocks.append(_fenced("Reason" if call.status is CallStatus.SKIPPED else "Error", call.error))
    if call.messages:
        blocks.append(_fenced("Messages of hooks", "\n".join(call.messages)))
    if call.stderr.strip():
        blocks.append(_fenced("stderr", call.stderr.strip("\n"), end=True))
    return "\n\n".join(blocks) + "\n"


def _facts(call: AbilityCall) -> Iterator[str]:
    yield f"# {call.ability_id}: {call.status.value}\n"
    yield f"- key: {call.key}"
    if call.operation_key not in ("", call.ability_id):
        yield f"- operation: {call.operation_key}"
    if call.intent:
        yield f"- intent: {shortened(call.intent, 1000)}"
    yield f"- created: {call.created}"
    if call.started:
        yield f"- started: {call.started}, by process {call.pid}"
    if call.status is CallStatus.RUNNING:
        yield f"- ended: not yet; if process {call.pid} is gone, it was killed"
    elif call.ended:
        yield f"- ended: {call.ended}, after {call.duration_ms:.0f} ms"
    for name, value in (("environment", call.environment), ("session", call.session), ("called by", call.parent)):
        if value:
            yield f"- {name}: {shortened(value)}"
    if call.children:
        yield f"- calls: {', '.join(call.children)}"
    if call.ran:
        yield f"- ran: {_code(shortened(call.ran, 1000))}"
    if call.status not in (CallStatus.CREATED, CallStatus.RUNNING):
        yield f"- matched: {_matched(call)}"


def _matched(call: AbilityCall) -> str:
    killed = call.status is CallStatus.KILLED
    if not call.ran and not killed:
        return "nothing ran"
    if call.final_input is not UNSET:
        return "no, hooks changed the input; both are below"
    if killed:
        return "unknown, since it was killed"
    return "yes, with the original input"


def _code(text: str) -> str:
    """Inline code, with more backticks around it than within."""
    ticks = "`" * (1 + _longest_ticks(text))
    return f"{ticks}{text}{ticks}" if len(ticks) == 1 else f"{ticks} {text} {ticks}"


def _json(title: str, value: Any) -> str:
    return _fenced(title, indented(value).decode(), "json")


def _fenced(title: str, text: str, kind: str = "", *, end: bool = False) -> str:
    if len(text) > LONGEST:
        text = f"…{text[-LONGEST:]}" if end else f"{text[:LONGEST]}…"
    text = text if kind else safe(text)  # JSON has escapes of its own
    fence = "`" * max(3, 1 + _longest_ticks(text))
    return f"## {title}\n\n{fence}{kind}\n{text}\n{fence}"


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
