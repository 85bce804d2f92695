"""Shared by the built-in handlers: when to write nothing, and how to join the text of earlier handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from samuel.events import LoopEvent


def writes_nothing(event: LoopEvent) -> bool:
    """Whether the event was fired by a dry run or by hand outside of a run: then nothing is written."""
    return event.dry_run or not event.run_id


def append_to(previous: Mapping[str, Any] | UnsetType, key: str, text: str) -> str:
    """The text of a context event: that of the handlers before the built-in stays, above the built-in's own."""
    before = "" if previous is UNSET else str(previous.get(key) or "")
    return f"{before.rstrip()}\n{text}" if before else text
