"""What a run that has not ended waits for: agents at their usage limit, machines that are tried again."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from samuel.history.run import Run


class Hold(msgspec.Struct, frozen=True):
    name: str
    """The agent, or `machine` and the name of the place."""
    until: float
    """When it is tried again, in seconds since the epoch."""
    why: str


def holds_of(run: Run, now: float) -> tuple[Hold, ...]:
    """What is held back now, each with its end; nothing for a run that is over."""
    if run.over:
        return ()
    agents = [Hold(agent, wait.until, wait.why) for agent, wait in run.waits.items()]
    places = run.lanes.fleet if run.lanes is not UNSET else {}
    machines = [
        Hold(f"machine {name}", place.until, place.why)
        for name, place in places.items()
        if place.status == "waiting"
    ]
    return tuple(hold for hold in (*agents, *machines) if hold.until > now)
