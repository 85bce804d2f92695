"""`.system/logs/tool_call.md`: a readable entry for every call of an ability."""

from __future__ import annotations

from pathlib import Path

from msgspec import UnsetType

from samuel.base.paths import SYSTEM
from samuel.events import PostAbilityCall
from samuel.files import log
from samuel.shipped.event_fields import one_line, text_or_empty

NAME = "tool_call.md"
FILE = f"{SYSTEM}/logs/{NAME}"


def append(root: Path, event: PostAbilityCall) -> None:
    log.append(root, SYSTEM, "logs", NAME, entry=entry(event).encode(errors="replace"))


def entry(event: PostAbilityCall) -> str:
    fields = {
        "operation": text_or_empty(event.operation_key),
        "session": text_or_empty(event.session_id),
        "duration": "" if isinstance(event.duration_ms, UnsetType) else f"{event.duration_ms:g} ms",
        "input": text_or_empty(event.input_summary),
        "output": text_or_empty(event.output_summary),
        "record": text_or_empty(event.tool_call_path),
    }
    lines = [f"- {key}: {one_line(value)}" for key, value in fields.items() if value.strip()]
    head = f"## {one_line(event.timestamp)} {one_line(event.ability_id, 100)}: {event.status}"
    return "\n".join([head, "", *lines, "", ""])
