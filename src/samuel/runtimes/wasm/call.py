"""The state of one call of a module, for its host functions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import UNSET

from samuel.events import Event
from samuel.hooks.handler import Package
from samuel.process.pump import STDERR_KEPT
from samuel.runtimes.confined import Confinement
from samuel.runtimes.wasm.codes import Denied, NoAnswer
from samuel.runtimes.wasm.files import GrantedFiles

LEVELS = ("debug", "info", "warning", "error")


class WasmCall:
    """One call of a module."""

    def __init__(
        self,
        root: Path,
        confinement: Confinement,
        package: Package,
        config: Mapping[str, Any],
        event: Event,
        timeout: float,
    ) -> None:
        self.root = root
        self.confinement = confinement
        self.package = package
        self.config = config
        self.event = event
        self.deadline = time.perf_counter() + timeout
        self.denied: list[str] = []
        self.memory = 0  # bytes in use when it trapped
        self.answering = False  # a host function is calling `samuel_alloc` for its reply
        self._stderr = bytearray()

    def remaining(self) -> float:
        return self.deadline - time.perf_counter()

    @property
    def data(self) -> str:
        """The plugin's data_dir; "" if the event does not have it."""
        return "" if self.event.plugin is UNSET else self.event.plugin.data_dir

    @cached_property
    def files(self) -> GrantedFiles:
        return GrantedFiles(self.root, self.package.directory, self.data, self.package.grants)

    def say(self, words: bytes) -> None:
        """Append to the call's stderr, of which only the end is kept."""
        self._stderr += words[-STDERR_KEPT:]
        if len(self._stderr) > 2 * STDERR_KEPT:
            del self._stderr[:-STDERR_KEPT]

    def log(self, level: int, words: bytes) -> None:
        name = LEVELS[min(max(level, 0), len(LEVELS) - 1)]
        self.say(name.encode() + b": " + words[-STDERR_KEPT:] + b"\n")

    def note(self, trouble: NoAnswer) -> int:
        """Record why a host function failed; return the number that the module gets."""
        if isinstance(trouble, Denied) and str(trouble) not in self.denied:
            self.denied.append(str(trouble))
        self.say(f"samuel: {trouble}\n".encode(errors="backslashreplace"))
        return trouble.code

    @property
    def stderr(self) -> str:
        return self._stderr[-STDERR_KEPT:].decode("utf-8", "replace") if self._stderr else ""
