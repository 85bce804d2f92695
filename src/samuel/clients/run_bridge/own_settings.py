"""The settings of a client that a file of Samuel's stands in for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samuel.clients.entries.json_text import JsonSyntaxError, parse


def own_settings(file: Path) -> dict[str, Any]:
    """The settings in a JSON file, with comments or without; {} if there are none that the client could read."""
    try:
        return settings_in(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}


def settings_in(text: str) -> dict[str, Any]:
    """The settings in a text; {} if it is not a JSON object."""
    try:
        value = parse(text).root.value
    except JsonSyntaxError:
        return {}
    return dict(value) if isinstance(value, Mapping) else {}
