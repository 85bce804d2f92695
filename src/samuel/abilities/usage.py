"""How often abilities were used: `.system/cache/ability_usage.json`, kept by the hook that tracks their calls.

It is a hint and nothing more. What cannot be read counts as never used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from samuel.errors import SamuelError
from samuel.files.inside import read_inside

FILE = ".system/cache/ability_usage.json"
LARGEST = 16 * 1024 * 1024


def read_usage(root: Path) -> dict[str, int]:
    """Calls by ability id."""
    counts = {id: entry.get("count") for id, entry in read_entries(root).items()}
    return {id: count for id, count in counts.items() if type(count) is int and count > 0}


def read_entries(root: Path) -> dict[str, dict[str, Any]]:
    """The whole file: `{"<id>": {"count": 3, "last_used": "...", ...}, ...}`."""
    try:
        said = msgspec.json.decode(read_inside(root, FILE, limit=LARGEST))
    except (SamuelError, OSError, ValueError, RecursionError):  # msgspec's errors, and bad UTF-8, are ValueErrors
        return {}
    if not isinstance(said, dict):
        return {}
    return {id: one for id, one in said.items() if isinstance(one, dict)}
