"""PostAbilityCall: a record of every call in `.system/logs/tool_call.md`, and how often each ability is used.

Routing reads the counts (abilities/usage.py): of two abilities that fit equally well the one in use comes first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import UnsetType

from samuel.abilities.usage import count_call
from samuel.events import PostAbilityCall
from samuel.shipped.event_fields import told
from samuel.shipped.post_tool_use_tracker import call_log
from samuel.shipped.post_tool_use_tracker.rules import TrackingRules

OFTEN = 10  # calls that are worth half of the highest weight


def hook(event: PostAbilityCall) -> dict[str, Any]:
    if event.dry_run:
        return {}
    root = Path(event.project_root)
    call_log.append(root, event)
    took = 0.0 if isinstance(event.duration_ms, UnsetType) else event.duration_ms
    count = count_call(root, event.ability_id, event.status, event.timestamp, took)
    said = f"Logged {event.ability_id} usage to {call_log.FILE}"
    result: dict[str, Any] = {"logs": [{"level": "info", "message": said}], "usage_recorded": True}
    if count >= told(event, TrackingRules).frequent:
        result["update_matcher_suggestions"] = [
            {"ability_id": event.ability_id, "signal": "frequent_usage", "weight": _weight(count)}
        ]
    return result


def _weight(count: int) -> float:
    """0 to 1, for whoever matches words with abilities."""
    return round(count / (count + OFTEN), 2)
