"""context.progress: what was learned so far, and keeping progress.md from growing without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samuel.attempt.defaults.common import append_to, writes_nothing
from samuel.attempt.workplace import Workplace
from samuel.events import ContextProgress
from samuel.prompts import progress


class DescribeProgress:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: ContextProgress) -> dict[str, Any]:
        path = Path(event.progress_path)
        if not writes_nothing(event):
            progress.rotate(path, self._place.state / "archive", self._place.disk)
        return {"md_blob": append_to(event.previous, "md_blob", progress.context(path))}
