"""What the defaults have in common: what is kept of those before them, and when nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from samuel.events import LoopEvent


def for_a_look(event: LoopEvent) -> bool:
    """Fired by a dry run, or by hand outside of a run: nothing is written down."""
    return event.dry_run or not event.run_id


def after(previous: Mapping[str, Any] | UnsetType, key: str, text: str) -> str:
    """What a handler before a context default put into the blob stays, above the default's own text."""
    before = "" if previous is UNSET else str(previous.get(key) or "")
    return f"{before.rstrip()}\n{text}" if before else text
