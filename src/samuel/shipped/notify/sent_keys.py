"""Which messages were sent, so that a run that is killed and resumed does not send them again.

A key is recorded before its message is sent: a kill in between loses the message, and it is never sent twice. What
was lost is still in `samuel run status`, and the end of the run is a message of its own.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.lock import held
from samuel.files.regular import read_regular

FILE, LOCK = "notified.json", "notified.lock"
MOST = 5000
"""The keys that are kept, the newest."""
WAIT = 5.0  # seconds: another process holds the lock for milliseconds


class SentKeys:
    """The keys in the record of a run, where no sandboxed agent can write."""

    def __init__(self, record: Path) -> None:
        self._record = record

    def claim(self, key: str) -> bool:
        """Record that the message of `key` is sent now; False if it was recorded before.

        Raises OSError or SamuelError if that cannot be recorded.
        """
        self._record.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held(self._record / LOCK, wait=WAIT, note="notify"):
            keys = self._load()
            if key in keys:
                return False
            atomic.write_bytes(self._record / FILE, msgspec.json.encode([*keys, key][-MOST:]), 0o600)
        return True

    def _load(self) -> list[str]:
        try:
            return decode_json(read_regular(self._record / FILE), list[str])
        except FileNotFoundError:
            return []
        except (UnicodeDecodeError, msgspec.MsgspecError):
            return []  # it is written again, with what is sent from now on
