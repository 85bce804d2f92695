"""How often abilities were used: `.system/cache/ability_usage.json`, changed by one process at a time.

    {"billing_regression": {"count": 12, "failures": 1, "skipped": 0, "total_ms": 2244000.0, "last_used": "..."}}

`count` is what routing reads: the calls that succeeded, so that an ability that always fails does not rise. Beside
it are the `signals` that hooks returned as `update_matcher_suggestions`, each with its weight. Both are hints: a
file that cannot be read counts as never used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.files import atomic
from samuel.files.inside import read_inside
from samuel.files.lock import held
from samuel.files.log import make_ignored_dirs

FILE = ".system/cache/ability_usage.json"
LARGEST = 16 * 1024 * 1024
MOST = 5_000  # abilities; the least recently used are removed first
MOST_SIGNALS = 20  # of one ability; the oldest are removed first
LONGEST_SIGNAL = 100  # characters of its name
WAIT = 30.0  # a change takes milliseconds

_KEYS = {"success": "count", "failure": "failures", "skipped": "skipped"}


class AbilityUsage(NamedTuple):
    """What routing knows of an ability's use."""

    calls: int = 0
    """Those that succeeded."""
    signal: str = ""
    """The strongest signal of a hook, in its own words."""
    weight: float = 0.0
    """Of that signal, from 0 to 1."""


def read_usage(root: Path) -> dict[str, AbilityUsage]:
    """The use of abilities by their ids, without those that were never used."""
    usage = {id: _usage(entry) for id, entry in _entries(root).items()}
    return {id: used for id, used in usage.items() if used.calls > 0 or used.weight > 0}


def _usage(entry: Mapping[str, Any]) -> AbilityUsage:
    count = entry.get("count")
    signals = _signals(entry)
    signal = max(signals, key=lambda name: (signals[name], name), default="")
    return AbilityUsage(count if type(count) is int and count > 0 else 0, signal, signals.get(signal, 0.0))


def count_call(root: Path, ability: str, status: str, at: str, took_ms: float) -> int:
    """Count one call; returns the number of successful calls of this ability."""
    with _changing(root) as entries:
        entries[ability] = after = _counted(entries.get(ability), status, at, took_ms)
    return after["count"]  # type: ignore[no-any-return]


def keep_signals(root: Path, suggestions: Iterable[Mapping[str, Any]], at: str) -> None:
    """Keep what hooks returned as `update_matcher_suggestions`: a signal is replaced, and removed by weight 0."""
    with _changing(root) as entries:
        for suggestion in suggestions:
            id, signal = str(suggestion["ability_id"]), str(suggestion.get("signal") or "")[:LONGEST_SIGNAL]
            entry = {"last_used": at, **entries.get(id, {})}
            signals = {name: weight for name, weight in _signals(entry).items() if name != signal}
            signals = _signals({"signals": {**signals, signal: suggestion["weight"]}})
            entries[id] = {**entry, "signals": dict([*signals.items()][-MOST_SIGNALS:])}


def _signals(entry: Mapping[str, Any]) -> dict[str, float]:
    """The signals of an entry that have a weight, which is 1 at most."""
    signals = entry.get("signals")
    if not isinstance(signals, dict):
        return {}
    weights = {name: weight for name, weight in signals.items() if type(weight) in (int, float) and weight > 0}
    return {name: min(1.0, weight) for name, weight in weights.items()}


@contextmanager
def _changing(root: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """The entries, to be changed in this context and written at its end. One process at a time."""
    place = Path(FILE)
    directory = make_ignored_dirs(root, *place.parent.parts)
    try:
        with held(root / place.parent / f".{place.stem}.lock", wait=WAIT, note="counting calls"):
            entries = _entries(root)
            yield entries
            newest = sorted(entries, key=lambda id: str(entries[id].get("last_used", "")))[-MOST:]
            newest_entries = {id: entries[id] for id in sorted(newest)}
            data = msgspec.json.format(msgspec.json.encode(newest_entries), indent=1)
            atomic.write_at(directory, place.name, data + b"\n", 0o644, durable=False)
    finally:
        os.close(directory)


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
