"""How often abilities were used: `.system/cache/ability_usage.json`, changed by one process at a time.

    {"billing_regression": {"count": 12, "failures": 1, "skipped": 0, "total_ms": 2244000.0, "last_used": "..."}}

`count` is what routing reads: the calls that succeeded, so that an ability that always fails does not rise. It is
only a hint: a file that cannot be read counts as never used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from samuel.decoding import decode_json
from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.files.ignored import make_ignored_dirs
from samuel.files.inside import read_inside
from samuel.files.lock import held

FILE = ".system/cache/ability_usage.json"
LARGEST = 16 * 1024 * 1024
MOST = 5_000  # abilities; the least recently used are removed first
WAIT = 30.0  # a change takes milliseconds

_KEYS = {"success": "count", "failure": "failures", "skipped": "skipped"}


def read_usage(root: Path) -> dict[str, int]:
    """The number of successful calls by ability id."""
    counts = {id: entry.get("count") for id, entry in _entries(root).items()}
    return {id: count for id, count in counts.items() if type(count) is int and count > 0}


def count_call(root: Path, ability: str, status: str, at: str, took_ms: float) -> int:
    """Count one call; returns the number of successful calls of this ability."""
    place = Path(FILE)
    directory = make_ignored_dirs(root, *place.parent.parts)
    try:
        with held(root / place.parent / f".{place.stem}.lock", wait=WAIT, note="counting calls"):
            entries = _entries(root)
            entries[ability] = after = _counted(entries.get(ability), status, at, took_ms)
            newest = sorted(entries, key=lambda id: str(entries[id].get("last_used", "")))[-MOST:]
            newest_entries = {id: entries[id] for id in sorted(newest)}
            data = msgspec.json.format(msgspec.json.encode(newest_entries), indent=1)
            atomic.write_at(directory, place.name, data + b"\n", 0o644, durable=False)
    finally:
        os.close(directory)
    return after["count"]  # type: ignore[no-any-return]


def _entries(root: Path) -> dict[str, dict[str, Any]]:
    try:
        content = decode_json(read_inside(root, FILE, limit=LARGEST))
    except (SamuelError, OSError, ValueError, RecursionError):  # msgspec's errors, and bad UTF-8, are ValueErrors
        return {}
    if not isinstance(content, dict):
        return {}
    return {id: entry for id, entry in content.items() if isinstance(entry, dict)}


def _counted(before: dict[str, Any] | None, status: str, at: str, took_ms: float) -> dict[str, Any]:
    """The entry with one more call. Unknown keys stay."""
    entry = {"count": 0, "failures": 0, "skipped": 0, **(before or {})}
    entry |= {key: entry[key] if type(entry[key]) is int else 0 for key in _KEYS.values()}
    entry[_KEYS[status]] += 1
    if status != "skipped":
        total = entry.get("total_ms")
        entry["total_ms"] = round((total if isinstance(total, (int, float)) else 0.0) + took_ms, 3)
    entry["last_used"] = at
    return entry
