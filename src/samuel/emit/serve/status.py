"""What a server tells about itself."""

from __future__ import annotations

import msgspec


class ServerStatus(msgspec.Struct):
    """What a server tells about itself."""

    pid: int
    root: str
    socket: str
    version: str
    uptime_s: float
    idle_s: float
    ends_after_idle_s: float | None
    """None for the server of a run, which ends with it: an agent may think for long."""
    calls: int
    left_to_others: int
    """Calls that a process of its own had to answer, and why the last one had to."""
    last_reason: str
    under_way: int
    threads: int
    memory_bytes: int
