"""Whether a coordinator still waits for an attempt."""

from __future__ import annotations

FIRST_HEARTBEAT = 1.0  # seconds, until the request says how often


class CancelSwitch:
    """Shared by the attempt, the signal handler and the thread of the heartbeats."""

    def __init__(self) -> None:
        self.heartbeat = FIRST_HEARTBEAT
        """Seconds between two lines by which the coordinator hears of the attempt."""
        self.is_cancelled = False
        self.is_shielded = False
        """True: the work is done and paid for, and is being handed over."""
