"""Keeping what hooks of PostAbilityCall learned for routing; separate, because most events bring nothing of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from samuel.base.errors import SamuelError
from samuel.files.explained import reason
from samuel.routing.abilities.usage import keep_signals

if TYPE_CHECKING:
    from samuel.app.project import App


def keep(app: App, suggestions: Iterable[Mapping[str, Any]], at: str) -> None:
    """Keep what a result suggests. It is a hint: if it cannot be written, that costs a warning."""
    try:
        keep_signals(app.paths.root, suggestions, at)
    except (SamuelError, OSError) as error:
        app.warn(f"what a hook learned about abilities is not kept: {reason(error)}")
