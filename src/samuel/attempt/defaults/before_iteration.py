"""before:iteration: wait for `pause`, so that an agent that fails at once is not started in a tight loop."""

from __future__ import annotations

from typing import Any

from samuel.attempt.workplace import Workplace
from samuel.events import BeforeIteration


class WaitThePause:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: BeforeIteration) -> dict[str, Any]:
        if event.iteration > 1 and not event.dry_run:
            self._place.clock.sleep(self._place.settings.pause)
        return {"ok": True}
