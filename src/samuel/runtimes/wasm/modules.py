"""From a file to a module that is ready to be instantiated, once for as long as the file stays the same."""

from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from wasmtime import Engine, FuncType, InstancePre, Linker, MemoryType, Module, WasmtimeError

from samuel.errors import SamuelError
from samuel.files.inside import read_inside
from samuel.files.survey import Signature, signature
from samuel.runtimes.wasm.cache import CompiledCache

MODULE_LIMIT = 32 * 1024 * 1024
MEMORY, ALLOCATE, VERSION, INITIALIZE = "memory", "samuel_alloc", "samuel_protocol_version", "_initialize"
HOOK = "(i32, i32) -> i64"
REQUIRED = {MEMORY: "memory", ALLOCATE: "(i32) -> i32", VERSION: "() -> i32"}
_CORE = b"\0asm\1\0\0\0"


class NotLoaded(Exception):
    """There is no module to call; the message says why."""


class Loaded:
    """A module, linked. Instances are made of it in any thread."""

    def __init__(self, linker: Linker, module: Module) -> None:
        self.linked: InstancePre = linker.instantiate_pre(module)
        self.uses_wasi = any(one.module.startswith("wasi") for one in module.imports)
        self._types = {one.name: one.type for one in module.exports}
        self.initializes = _shape(self._types.get(INITIALIZE)) == "() -> nothing"
        self.protocol = 0  # what it speaks, once it was asked
        self._checked: dict[str, str] = {}

    def refusal(self, entry: str) -> str:
        """Why `entry` cannot be called as a hook; "" if it can."""
        known = self._checked.get(entry)
        if known is None:
            known = self._checked[entry] = self._check({**REQUIRED, entry: HOOK})
        return known

    def _check(self, required: dict[str, str]) -> str:
        for name, shape in required.items():
            kind = self._types.get(name)
            if kind is None:
                exported = ", ".join(f"`{one}`" for one in sorted(self._types)) or "nothing"
                return f"the module does not export `{name}`; it exports {exported}"
            if (found := _shape(kind)) != shape:
                return f"the module exports `{name}` as {found}, and it must be {shape}"
        return ""


class Modules:
    def __init__(self, engine: Engine, linker: Linker, cache: CompiledCache) -> None:
        self._engine = engine
        self._linker = linker
        self._cache = cache
        self._ready: dict[str, tuple[Signature, Loaded]] = {}
        self._loading: dict[str, tuple[Signature, Future[Loaded]]] = {}
        self._lock = threading.Lock()
        # Compiling cannot be stopped. Here it goes on while whoever asked keeps its deadline.
        self._compiling = ThreadPoolExecutor(4, "samuel-wasm-compiler")

    def get(self, path: str, directory: str, timeout: float) -> Loaded:
        """The module at `path`, which lies in `directory`. Raises NotLoaded, and TimeoutError."""
        try:
            found = signature(os.lstat(path))
        except OSError as error:
            why = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            raise NotLoaded(f"`{path}` {why}") from None
        ready = self._ready.get(path)
        if ready is not None and ready[0] == found:
            return ready[1]
        with self._lock:
            loading = self._loading.get(path)
            if loading is None or loading[0] != found:
                loading = self._loading[path] = found, self._compiling.submit(self._load, path, directory)
        try:
            loaded = loading[1].result(timeout)
        except NotLoaded:
            self._loading.pop(path, None)  # it may have been a passing trouble
            raise
        self._ready[path] = found, loaded
        return loaded

    def close(self) -> None:
        self._compiling.shutdown(wait=False, cancel_futures=True)

    def _load(self, path: str, directory: str) -> Loaded:
        try:
            inside = os.path.relpath(path, directory)
            data = read_inside(Path(directory), inside, limit=MODULE_LIMIT)
        except (OSError, SamuelError) as error:
            raise NotLoaded(f"`{path}` cannot be read: {error}") from None
        if not data.startswith(_CORE):
            raise NotLoaded(f"`{path}` is not a core WebAssembly module")
        try:
            return Loaded(self._linker, self._compiled(data))
        except WasmtimeError as error:
            raise NotLoaded(f"`{path}` cannot be used: {_flat(error)}") from None

    def _compiled(self, data: bytes) -> Module:
        digest = hashlib.sha256(data).hexdigest()
        if (kept := self._cache.load(digest)) is not None:
            try:
                return Module.deserialize(self._engine, kept)
            except WasmtimeError:  # for a processor that this one is not
                pass
        module = Module(self._engine, data)
        self._cache.keep(digest, bytes(module.serialize()))
        return module


def _shape(kind: object) -> str:
    if isinstance(kind, FuncType):
        params, results = (", ".join(map(str, types)) for types in (kind.params, kind.results))
        return f"({params}) -> {results or 'nothing'}"
    return "memory" if isinstance(kind, MemoryType) else "something else"


def _flat(error: WasmtimeError) -> str:
    return ": ".join(line.strip() for line in str(error).splitlines() if line.strip())
