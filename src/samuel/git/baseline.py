"""The state before a sandboxed program, on disk: a Samuel that was killed meanwhile could not compare with it.

The next one does. It is outside of the project, where no sandboxed program can write.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.base.decoding import convert
from samuel.files import atomic
from samuel.git.sweep import GitState

DIRECTORY = "sandboxes"


class Baseline:
    def __init__(self, cache: Path | None, root: Path) -> None:
        digest = hashlib.sha256(str(root).encode(errors="surrogateescape")).hexdigest()
        writable = cache is None or cache.resolve().is_relative_to(root)  # a home that is the project
        self._file = None if cache is None or writable else cache / DIRECTORY / f"{digest[:32]}.json"

    def load(self) -> GitState | None:
        """What was saved and not removed."""
        if self._file is None:
            return None
        try:
            return convert(json.loads(self._file.read_bytes()), GitState)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def save(self, state: GitState) -> None:
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Names may be no UTF-8, which only this module can write down and read again.
            atomic.write_bytes(self._file, json.dumps(msgspec.to_builtins(state)).encode(), 0o600, durable=False)

    def remove(self) -> None:
        if self._file is not None:
            with suppress(FileNotFoundError):
                self._file.unlink()
