"""The runtimes of a project by name, each created when it is first needed: most events need one or none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from samuel.base.clock import Clock
from samuel.config.model import Limits
from samuel.runtimes.base import Runtime

if TYPE_CHECKING:
    from samuel.confine.walls.limits import ProcessLimits
    from samuel.runtimes.python import PythonRuntime


class Setting(msgspec.Struct, frozen=True):
    """What runtimes are created with."""

    root: Path
    environment: Mapping[str, str]  # of hooks
    host: Mapping[str, str]  # the environment that granted variables come from
    cache: Path
    limits: Limits
    clock: Clock
    forks: bool = False  # whether workers may be forks of this process


class Runtimes(Mapping[str, Runtime]):
    """The runtimes of TABLE, created on first use."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._created: dict[str, Runtime] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Runtime:
        with self._lock:  # two threads must not create two: the processes of one of them would never be ended
            if name not in self._created:
                self._created[name] = TABLE[name](self._setting)
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


def _inline(setting: Setting) -> Runtime:
    from samuel.runtimes.inline import InlineRuntime

    return InlineRuntime()


def _exec(setting: Setting) -> Runtime:
    from samuel.runtimes.exec import ExecRuntime

    limit = setting.limits.handler_output_bytes
    return ExecRuntime(
        setting.root, setting.environment, setting.cache, limit, setting.clock, limits=_of_processes(setting)
    )


def _python(setting: Setting) -> Runtime:
    from samuel.runtimes.python import PythonRuntime

    output, limits = setting.limits.handler_output_bytes, partial(_of_processes, setting)
    return PythonRuntime(
        setting.root, setting.environment, setting.cache, output, limits=limits, forks=setting.forks
    )


def _wasm(setting: Setting) -> Runtime:
    from samuel.runtimes.wasm import WasmRuntime

    limits = setting.limits
    memory, output = limits.handler_memory_bytes, limits.handler_output_bytes
    return WasmRuntime(setting.root, setting.cache, memory, output, _of_processes(setting))


def _oci(setting: Setting) -> Runtime:
    from samuel.runtimes.oci import OciRuntime

    output, memory = setting.limits.handler_output_bytes, setting.limits.handler_memory_bytes
    return OciRuntime(setting.root, setting.host, setting.cache, output, memory, setting.clock)


def _of_processes(setting: Setting) -> ProcessLimits:
    from samuel.confine.walls.limits import ProcessLimits

    return ProcessLimits(setting.limits.script_memory_bytes, setting.limits.script_processes)


TABLE: Mapping[str, Callable[[Setting], Runtime]] = {
    "inline": _inline,
    "exec": _exec,
    "python": _python,
    "wasm": _wasm,
    "oci": _oci,
}
