"""Modules for the tests, built from the sources beside them, and handlers that call them."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.length import FULL
from wasmtime import wat2wasm

from samuel.base.paths import Project
from samuel.events import ContextExtra
from samuel.events.event import Plugin
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import Handler, Origin, Package
from samuel.runtimes.wasm.machine import WasmRuntime

from .contract import setting

EXAMPLES = Path(__file__).parents[2] / "examples/plugins"
SOURCES = Path(__file__).parent / "modules"
HEADER = EXAMPLES / "wasm-c/src"
PLAIN = ("-target", "wasm32-freestanding", "-ffreestanding", "-nostdlib", "-Wl,--no-entry", f"-I{HEADER}")
LIBC = ("-target", "wasm32-wasi", "-mexec-model=reactor")
MIB = 1 << 20
LIMIT = 256 * 1024
FILES_SOURCE = "969e7969eadd7692df8cf159a9aef28b80df27d3350169d617b69222d58b3c69"  # what files.wasm was built from


@cache
def built(source: str, *options: str) -> bytes:
    """`modules/<source>` as a module. Zig keeps what it compiled in the user's cache: a second time is fast."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch, "out.wasm")
        command = [sys.executable, "-m", "ziglang", "cc", *options, "-Os", "-w", "-o", str(out)]
        subprocess.run([*command, str(SOURCES / source)], check=True, cwd=scratch)
        return out.read_bytes()


def behaviours() -> bytes:
    return built("behaviours.c", *PLAIN)


def files() -> bytes:
    """`modules/files.c` with a libc. Where zig has not built one yet, that takes half a minute: so it is kept."""
    if FULL:
        return built("files.c", *LIBC)
    source = hashlib.sha256((SOURCES / "files.c").read_bytes()).hexdigest()
    assert source == FILES_SOURCE, "files.c has changed: build files.wasm again (see the end of wasm_build.py)"
    return (SOURCES / "files.wasm").read_bytes()


ALLOCATES = """
  (global $next (mut i32) (i32.const 4096))
  (func (export "samuel_alloc") (param $size i32) (result i32)
    (global.get $next) (global.set $next (i32.add (global.get $next) (local.get $size))))
"""
SPEAKS_1 = '(func (export "samuel_protocol_version") (result i32) (i32.const 1))'
REMEMBERS = '(memory (export "memory") 2)'
SAYS_NOTHING = '(func (export "hook") (param i32 i32) (result i64) (i64.const 0))'


def module(
    hook: str = SAYS_NOTHING,
    *,
    imports: str = "",
    memory: str = REMEMBERS,
    allocates: str = ALLOCATES,
    speaks: str = SPEAKS_1,
) -> bytes:
    """A module from text, whole unless a part is left out or replaced."""
    return bytes(wat2wasm(f"(module {imports} {memory} {allocates} {speaks} {hook})"))


def hook(body: str) -> str:
    return f'(func (export "hook") (param $at i32) (param $length i32) (result i64) {body})'


def saying(json: str) -> bytes:
    """A module whose hook answers this."""
    data = "".join(f"\\{byte:02x}" for byte in json.encode())
    packed = 64 << 32 | len(json.encode())
    return module(f'(data (i32.const 64) "{data}") {hook(f"(i64.const {packed})")}')


class Place:
    """A project with one plugin, a user's cache, and a runtime."""

    def __init__(self, directory: Path, *, memory: int = 64 * MIB, output: int = LIMIT) -> None:
        self.root = directory / "place"
        self.plugin = self.root / ".samuel/plugins/org@probe"
        self.cache = directory / "user-cache"
        self.plugin.mkdir(parents=True)
        self.cache.mkdir()
        self.limits = memory, output
        self.runtime = self.new()

    def new(self) -> WasmRuntime:
        """Another runtime of the same place, as another process would have."""
        return WasmRuntime(setting(self.root, self.cache, memory=self.limits[0], output=self.limits[1]))

    @property
    def module(self) -> Path:
        return self.plugin / "plugin.wasm"

    @property
    def data(self) -> Path:
        return Project(self.root).data_dir("probe")

    def handler(
        self, entry: str = "hook", grants: Capabilities = NOTHING, config: dict[str, Any] | None = None
    ) -> Handler:
        return Handler(
            name="probe/hook",
            event="context.extra",
            origin=Origin.PROJECT_PLUGIN,
            runtime="wasm",
            owner="probe",
            path=str(self.module),
            entry=entry,
            config=config or {},
            package=Package(name="probe", directory=str(self.plugin), kind="wasm", grants=grants),
        )

    def event(self, **task: Any) -> ContextExtra:
        return ContextExtra(
            event_id="evt-1", deadline_ms=5000, task=task, plugin=Plugin("probe", {}, str(self.data))
        )

    def loaded(self, data: bytes) -> None:
        """Make `data` the module and have it compiled, so that this takes nothing off a short deadline."""
        assert "does not export `nonesuch`" in self.call(data, timeout=60.0, entry="nonesuch").message

    def call(self, data: bytes | None = None, timeout: float = 10.0, **handler: Any) -> Any:
        """What comes of the module's hook, the module being `data` from now on."""
        if data is not None:
            self.module.write_bytes(data)
        return self.runtime.call(self.handler(**handler), self.event(id="1"), timeout)


@contextmanager
def swapping(first: Path, second: Path) -> Iterator[None]:
    """Two names that change places all the time; neither is ever missing."""
    exchange, over = ctypes.CDLL(None).renameat2, threading.Event()

    def swap() -> None:
        while not over.is_set():
            assert exchange(-100, bytes(first), -100, bytes(second), 2) == 0

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        yield
    finally:
        over.set()
        swapper.join()


def descriptors() -> set[str]:
    """What is open now. An earlier test may still be letting go of its own: compare with `<=`."""
    return set(os.listdir("/proc/self/fd"))


if __name__ == "__main__":  # PYTHONPATH=. python -m tests.runtimes.wasm_build
    (SOURCES / "files.wasm").write_bytes(built("files.c", *LIBC))
    print(f'FILES_SOURCE = "{hashlib.sha256((SOURCES / "files.c").read_bytes()).hexdigest()}"')
