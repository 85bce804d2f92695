"""A hook in a WebAssembly module, and wasmtime by itself doing the same; the compiled cache, and compiling."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
from bench_projects import project
from measure import Row, at_least, at_most, take_turns
from wasmtime import Engine, Func, Linker, Memory, Module, Store

from samuel.events import ContextExtra, QualityCheck
from samuel.events.event import Plugin
from samuel.hooks.handler import Handler, Origin, Package
from samuel.runtimes.base import Setting
from samuel.runtimes.wasm.machine import WasmRuntime

EXAMPLES = Path(__file__).parents[1] / "examples/plugins"


def run(scratch: Path) -> Iterator[Row]:
    with project(scratch) as root:
        yield _warm(root, scratch / "cache")
    with project(scratch) as root:
        yield _cold(root, scratch / "cold")


def _warm(root: Path, cache: Path) -> Row:
    handler = _handler("wasm-c", "on_context_extra")
    plugin = Plugin("open-points", {}, str(root / ".samuel/run/plugins/open-points"))
    event = ContextExtra(
        event_id="evt-1", project_root=str(root), plugin=plugin, task={"description": "\nTODO: x"}
    )
    filled = {"id": "1", "description": "x" * (1015 - len(msgspec.json.encode(event))) + "\nTODO: x"}
    event = msgspec.structs.replace(event, task=filled)
    runtime = WasmRuntime(Setting(root, {}, cache))
    assert runtime.call(handler, event, 30.0).result["extras"]

    payload = msgspec.json.encode(event)
    assert len(payload) == 1024
    engine = Engine()
    module, linker = Module.from_file(engine, handler.path), Linker(engine)

    def raw() -> bytes:
        store = Store(engine)
        exports = linker.instantiate(store, module).exports(store)
        memory, allocate, hook = (exports[name] for name in ("memory", "samuel_alloc", handler.entry))
        assert isinstance(memory, Memory)
        assert isinstance(allocate, Func)
        assert isinstance(hook, Func)
        at = allocate(store, len(payload))
        memory.write(store, payload, at)
        packed = hook(store, at, len(payload))
        return bytes(memory.read(store, packed >> 32, (packed >> 32) + (packed & 0xFFFFFFFF)))

    assert b"open-points.md" in raw()
    mine, theirs = take_turns(lambda: runtime.call(handler, event, 30.0), raw, rounds=3000)
    runtime.close()
    return at_most("a wasm hook (fresh instance, 1 KB), vs raw wasmtime", mine, theirs, 1.3)


def _cold(root: Path, cache: Path) -> Row:
    """The first call of a process, with a module of 50 KB. wasmtime itself is imported by now for both."""
    handler = _handler("wasm-zig", "on_quality_check")
    event = QualityCheck(commands=["make test"])
    filled, empty = cache / "filled", cache / "empty"

    def first(place: Path) -> None:
        runtime = WasmRuntime(Setting(root, {}, place))
        assert runtime.call(handler, event, 60.0).result["ok"]
        runtime.close()

    def compiling() -> None:
        shutil.rmtree(empty, ignore_errors=True)
        first(empty)

    first(filled)
    cached, compiled = take_turns(lambda: first(filled), compiling, rounds=20)
    return at_least("the first call of a wasm hook from the compiled cache, vs compiling", cached, compiled, 2)


def _handler(example: str, entry: str) -> Handler:
    directory = EXAMPLES / example
    return Handler(
        name=f"{example}/{entry}",
        event="context.extra",
        origin=Origin.PROJECT_PLUGIN,
        runtime="wasm",
        path=str(directory / "plugin.wasm"),
        entry=entry,
        package=Package(name=example, directory=str(directory), kind="wasm"),
    )
