"""Clean up after killed calls: a record with the status `running`, and maybe processes."""

from __future__ import annotations

from collections.abc import Iterable

from samuel.process.tree import end_leftovers
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.nesting import VARIABLE


def settle_killed(calls: CallStore, keys: Iterable[str] | None = None) -> None:
    """Record every call, or those of `keys`, whose process died as killed, and end processes that it left."""
    for key in calls.mark_killed(keys):
        end_leftovers(VARIABLE, key)
