"""`.system/logs/tool_call.md`: every call of an ability, for people to read."""

from __future__ import annotations

from pathlib import Path

from msgspec import UnsetType

from samuel.events import PostAbilityCall
from samuel.files import log
from samuel.paths import SYSTEM
from samuel.shipped.event_fields import given, line

NAME = "tool_call.md"
FILE = f"{SYSTEM}/logs/{NAME}"


def append(root: Path, event: PostAbilityCall) -> None:
    log.append(root, SYSTEM, "logs", NAME, entry=entry(event).encode(errors="replace"))


def entry(event: PostAbilityCall) -> str:
    took = "" if isinstance(event.duration_ms, UnsetType) else f"{event.duration_ms:g} ms"
    said = {
        "operation": given(event.operation_key),
        "session": given(event.session_id),
        "duration": took,
        "input": given(event.input_summary),
        "output": given(event.output_summary),
        "record": given(event.tool_call_path),
    }
    lines = [f"- {key}: {line(value)}" for key, value in said.items() if value.strip()]
    head = f"## {line(event.timestamp)} {line(event.ability_id, 100)}: {event.status}"
    return "\n".join([head, "", *lines, "", ""])
