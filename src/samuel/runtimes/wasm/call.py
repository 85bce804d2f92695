"""One call of a module, as its host functions know it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import UNSET

from samuel.events import Event
from samuel.hooks.package import Package
from samuel.process.pump import STDERR_KEPT
from samuel.runtimes.confined import Confinement
from samuel.runtimes.wasm.codes import Denied, NoAnswer
from samuel.runtimes.wasm.files import GrantedFiles

LEVELS = ("debug", "info", "warning", "error")


class WasmCall:
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
        self.memory = 0  # bytes that it had when it trapped
        self.answering = False  # a host function is handing its answer over
        self._said = bytearray()

    def remaining(self) -> float:
        return self.deadline - time.perf_counter()

    @property
    def data(self) -> str:
        """Its data_dir; "" when nobody said which."""
        return "" if self.event.plugin is UNSET else self.event.plugin.data_dir

    @cached_property
    def files(self) -> GrantedFiles:
        return GrantedFiles(self.root, self.package.directory, self.data, self.package.grants)

    def say(self, words: bytes) -> None:
        """What it prints, logs, or should hear in words; the last of it is kept."""
        self._said += words[-STDERR_KEPT:]
        if len(self._said) > 2 * STDERR_KEPT:
            del self._said[:-STDERR_KEPT]

    def log(self, level: int, words: bytes) -> None:
        name = LEVELS[min(max(level, 0), len(LEVELS) - 1)]
        self.say(name.encode() + b": " + words[-STDERR_KEPT:] + b"\n")

    def note(self, trouble: NoAnswer) -> int:
        """Keep why a host function has no answer; the number is what the module gets."""
        if isinstance(trouble, Denied) and str(trouble) not in self.denied:
            self.denied.append(str(trouble))
        self.say(f"samuel: {trouble}\n".encode(errors="backslashreplace"))
        return trouble.code

    @property
    def stderr(self) -> str:
        return self._said[-STDERR_KEPT:].decode("utf-8", "replace") if self._said else ""
