"""PostAbilityCall: a record of every call in `.system/logs/tool_call.md`, and how often each ability is used.

Routing reads the counts (abilities/usage.py): of two abilities with the same score the one used more comes first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import UnsetType

from samuel.base.paths import SYSTEM
from samuel.events import PostAbilityCall
from samuel.files import log
from samuel.routing.abilities.usage import count_call
from samuel.shipped.event_fields import config_of, one_line, text_or_empty
from samuel.shipped.rule_values import TrackingRules

HALF_WEIGHT_CALLS = 10  # an ability with so many calls has half of the highest weight
NAME = "tool_call.md"
FILE = f"{SYSTEM}/logs/{NAME}"


def hook(event: PostAbilityCall) -> dict[str, Any]:
    if event.dry_run:
        return {}
    root = Path(event.project_root)
    append(root, event)
    duration_ms = 0.0 if isinstance(event.duration_ms, UnsetType) else event.duration_ms
    count = count_call(root, event.ability_id, event.status, event.timestamp, duration_ms)
    message = f"Logged {event.ability_id} usage to {FILE}"
    result: dict[str, Any] = {"logs": [{"level": "info", "message": message}], "usage_recorded": True}
    if count >= config_of(event, TrackingRules).frequent:
        result["update_matcher_suggestions"] = [
            {"ability_id": event.ability_id, "signal": "frequent_usage", "weight": _weight(count)}
        ]
    return result


def _weight(count: int) -> float:
    """From 0 to 1: how much a matcher should prefer the ability."""
    return round(count / (count + HALF_WEIGHT_CALLS), 2)


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
