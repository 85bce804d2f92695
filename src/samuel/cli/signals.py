"""Being asked to end, politely."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """A polite signal ends what runs as Ctrl-C does, so that whatever began has its end."""

    def end(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {name: signal.signal(name, end) for name in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
