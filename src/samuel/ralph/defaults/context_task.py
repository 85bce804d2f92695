"""context.task: what the agent must know of its task, as TOON."""

from __future__ import annotations

from typing import Any

import toons
from msgspec import UNSET

from samuel.events import ContextTask


def describe_task(event: ContextTask) -> dict[str, Any]:
    """The task, after whatever a handler before this one put into the blob."""
    before = "" if event.previous is UNSET else str(event.previous.get("toon_blob") or "")
    blob = toons.dumps({"mode": event.mode, "task": event.task})
    return {"toon_blob": f"{before.rstrip()}\n{blob}" if before else blob}
