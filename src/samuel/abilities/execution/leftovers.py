"""What a killed call leaves: a record that still says `running`, and maybe processes."""

from __future__ import annotations

from samuel.abilities.execution.family import VARIABLE
from samuel.abilities.execution.folder import Calls
from samuel.process.tree import end_leftovers


def settle_killed(calls: Calls) -> None:
    """Give every call whose process is gone its last record, and end what it left running."""
    for key in calls.mark_killed():
        end_leftovers(VARIABLE, key)
