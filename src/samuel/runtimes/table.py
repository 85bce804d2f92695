"""The runtimes of a project by name, each created when it is first needed: most events need one or none."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from samuel.runtimes.base import Runtime, Setting

if TYPE_CHECKING:
    from samuel.runtimes.python import PythonRuntime


class Runtimes(Mapping[str, Runtime]):
    """The runtimes of TABLE, created on first use."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._created: dict[str, Runtime] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Runtime:
        with self._lock:  # two threads must not create two: the processes of one of them would never be ended
            if name not in self._created:
                module, kind = TABLE[name]
                self._created[name] = getattr(import_module(module), kind)(self._setting)
            return self._created[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE)

    def __len__(self) -> int:
        return len(TABLE)

    @property
    def python(self) -> PythonRuntime:
        """The Python runtime, which discovery also uses to ask hooks for their events."""
        from samuel.runtimes.python import PythonRuntime

        runtime = self["python"]
        assert isinstance(runtime, PythonRuntime)
        return runtime

    def close(self) -> None:
        """Close the runtimes that were created."""
        for runtime in self._created.values():
            runtime.close()


# The modules of runtimes are imported on first use: importing those of oci and wasm takes longer than most calls.
TABLE: Mapping[str, tuple[str, str]] = {
    "inline": ("samuel.runtimes.inline", "InlineRuntime"),
    "exec": ("samuel.runtimes.exec", "ExecRuntime"),
    "python": ("samuel.runtimes.python", "PythonRuntime"),
    "wasm": ("samuel.runtimes.wasm", "WasmRuntime"),
    "oci": ("samuel.runtimes.oci", "OciRuntime"),
}
