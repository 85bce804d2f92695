"""The settings in a client's own JSON files, with comments or without."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samuel.files.json_text import JsonSyntaxError, parse
from samuel.files.regular import read_regular


def read_settings(file: Path) -> dict[str, Any]:
    """The settings in a file; {} if there are none that the client could read."""
    try:
        return settings_in(read_regular(file).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return {}


def settings_in(text: str) -> dict[str, Any]:
    """The settings in a text; {} if it is not a JSON object."""
    try:
        value = parse(text).root.value
    except JsonSyntaxError:
        return {}
    return dict(value) if isinstance(value, Mapping) else {}


def table_in(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object below a key; {} if there is none."""
    value = settings.get(key)
    return value if isinstance(value, dict) else {}


def list_in(settings: Mapping[str, Any], key: str) -> list[Any]:
    """The list below a key; [] if there is none."""
    value = settings.get(key)
    return value if isinstance(value, list) else []
