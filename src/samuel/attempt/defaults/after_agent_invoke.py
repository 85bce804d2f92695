"""after:agent.invoke: one line per agent process, with its time and what it cost."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from samuel.attempt.defaults.common import writes_nothing
from samuel.attempt.workplace import Workplace
from samuel.base.clock import iso
from samuel.events import AfterAgentInvoke


class LogAgent:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AfterAgentInvoke) -> dict[str, Any]:
        if writes_nothing(event):
            return {"ok": True}
        line = {
            "at": iso(self._place.clock.now()),
            "run_id": event.run_id,
            "iteration": event.iteration,
            "exit_code": event.exit_code,
            **({} if event.duration_ms is UNSET else {"duration_ms": event.duration_ms}),
            "usage": event.usage,
        }
        self._place.append(self._place.logs / "agent.jsonl", msgspec.json.encode(line) + b"\n")
        return {"ok": True}
