"""What a handler before a context default put into the blob stays, above the default's own text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType


def after(previous: Mapping[str, Any] | UnsetType, key: str, text: str) -> str:
    before = "" if previous is UNSET else str(previous.get(key) or "")
    return f"{before.rstrip()}\n{text}" if before else text
