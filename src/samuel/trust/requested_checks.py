"""The checks of tasks that a coordinator asked this machine to run: its owner reads them here before agreeing.

The tasks are at the coordinator. Without this, `samuel trust` in the clone of a machine would show nothing.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.regular import read_regular

DIRECTORY = "requested-checks"

TaskChecks = tuple[tuple[str, tuple[str, ...]], ...]
"""The ids of tasks, and the commands of each, in the order of the task file."""


def remember_requested(state: Path, key: str, methodology: str, checks: TaskChecks) -> None:
    """Keep what was asked for last. `state` is the user's, `key` the project's in the trust store."""
    by_methodology = {**requested_checks(state, key), methodology: checks}
    file = state / DIRECTORY / f"{key}.json"
    with suppress(OSError):  # then `samuel trust` does not show them, and they stay refused
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file, msgspec.json.encode(by_methodology), 0o600, durable=False)


def requested_checks(state: Path, key: str) -> dict[str, TaskChecks]:
    """What was asked for last, by methodology."""
    try:
        return decode_json(read_regular(state / DIRECTORY / f"{key}.json"), dict[str, TaskChecks])
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return {}
