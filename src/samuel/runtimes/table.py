"""The runtimes of a project by name, each created when it is first needed: most events need one or none."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply, Runtime, Setting
from samuel.runtimes.wasm import MISSING
from samuel.trust.content import NO_CONTENT, TrustedContent

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
                self._created[name] = self._create(*TABLE[name])
            return self._created[name]

    def _create(self, module: str, kind: str) -> Runtime:
        try:
            runtime: Runtime = getattr(import_module(module), kind)(self._setting)
        except ModuleNotFoundError as error:
            if error.name != "wasmtime":  # which is optional
                raise
            return _NotInstalled()
        return runtime

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


class _NotInstalled:
    """In the place of the runtime of modules."""

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        return Reply(Outcome.NOT_STARTED, message=MISSING)

    def close(self) -> None:
        pass


# The modules of runtimes are imported on first use: importing those of oci and wasm takes longer than most calls.
TABLE: Mapping[str, tuple[str, str]] = {
    "inline": ("samuel.runtimes.inline", "InlineRuntime"),
    "exec": ("samuel.runtimes.exec", "ExecRuntime"),
    "python": ("samuel.runtimes.python", "PythonRuntime"),
    "wasm": ("samuel.runtimes.wasm.machine", "WasmRuntime"),
    "oci": ("samuel.runtimes.oci", "OciRuntime"),
}
