"""Background calls of a project, set up when the first one is made: most projects have none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samuel.background.calls import BackgroundCalls
    from samuel.background.wire import EndedCall
    from samuel.dispatch.background import BackgroundCall


class LazyBackground:
    """Makes calls that nobody waits for."""

    def __init__(self, create: Callable[[], BackgroundCalls]) -> None:
        self._create = create
        self._calls: BackgroundCalls | None = None
        self._lock = threading.Lock()

    def start(self, call: BackgroundCall) -> str:
        """Begin a call; "" or why it could not be begun."""
        with self._lock:
            if self._calls is None:
                self._calls = self._create()
        return self._calls.start(call)

    def ended(self) -> list[EndedCall]:
        """The calls that did not end well since the last time this was asked."""
        return self._calls.ended() if self._calls else []

    def close(self) -> None:
        """Kill what must not go on when the project is closed."""
        if self._calls:
            self._calls.close()
