"""Transfers that are repeated while a remote cannot be reached."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from samuel.git.transport import TransferFailed

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0  # seconds

T = TypeVar("T")


def patiently(transfer: Callable[[], T], patience: Callable[[], float]) -> T:
    """What the transfer gives. It is repeated for `patience()` seconds; then its TransferFailed is raised."""
    started, pause = time.monotonic(), FIRST_PAUSE
    while True:
        try:
            return transfer()
        except TransferFailed:
            if time.monotonic() + pause - started > patience():
                raise
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
