"""context.snapshot: the project at a glance, from git's own knowledge of it."""

from __future__ import annotations

from typing import Any

from samuel.attempt.defaults.common import append_to
from samuel.attempt.workplace import Workplace
from samuel.events import ContextSnapshot
from samuel.prompts import snapshot


class DescribeProject:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: ContextSnapshot) -> dict[str, Any]:
        taken = snapshot.take(self._place.root, self._place.git, self._place.cache)
        return {"toon_blob": append_to(event.previous, "toon_blob", snapshot.to_toon(taken))}
