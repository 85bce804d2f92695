"""PostAbilityCall: a record of every call in `.system/logs/tool_call.md`, and how often each ability is used.

Routing reads the counts (abilities/usage.py): of two abilities with the same score the one used more comes first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import UnsetType

from samuel.events import PostAbilityCall
from samuel.routing.abilities.usage import count_call
from samuel.shipped.event_fields import config_of
from samuel.shipped.post_tool_use_tracker import call_log
from samuel.shipped.post_tool_use_tracker.rules import TrackingRules

HALF_WEIGHT_CALLS = 10  # an ability with so many calls has half of the highest weight


def hook(event: PostAbilityCall) -> dict[str, Any]:
    if event.dry_run:
        return {}
    root = Path(event.project_root)
    call_log.append(root, event)
    duration_ms = 0.0 if isinstance(event.duration_ms, UnsetType) else event.duration_ms
    count = count_call(root, event.ability_id, event.status, event.timestamp, duration_ms)
    message = f"Logged {event.ability_id} usage to {call_log.FILE}"
    result: dict[str, Any] = {"logs": [{"level": "info", "message": message}], "usage_recorded": True}
    if count >= config_of(event, TrackingRules).frequent:
        result["update_matcher_suggestions"] = [
            {"ability_id": event.ability_id, "signal": "frequent_usage", "weight": _weight(count)}
        ]
    return result


def _weight(count: int) -> float:
    """From 0 to 1: how much a matcher should prefer the ability."""
    return round(count / (count + HALF_WEIGHT_CALLS), 2)
