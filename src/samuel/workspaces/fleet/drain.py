"""Which places a person has drained: they get no new work in the run under way."""

from __future__ import annotations

from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.regular import read_regular

FILE = "drained.json"


class DrainedPlaces(msgspec.Struct, frozen=True):
    run_id: str
    places: tuple[str, ...] = ()


def drained(directory: Path | None, run_id: str) -> tuple[str, ...]:
    """The drained places of this run. `directory` is that of the run's record."""
    if directory is None:
        return ()
    try:
        entry = decode_json(read_regular(directory / FILE), DrainedPlaces)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return ()
    return entry.places if entry.run_id == run_id else ()


def set_drained(directory: Path, run_id: str, places: tuple[str, ...]) -> None:
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = msgspec.json.encode(DrainedPlaces(run_id, places))
    atomic.write_bytes(directory / FILE, data, 0o600, durable=False)
