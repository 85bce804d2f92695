"""Loads and compiles modules; a file is loaded again only when it changes."""

from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from wasmtime import Engine, FuncType, InstancePre, Linker, MemoryType, Module, WasmtimeError

from samuel.base.errors import SamuelError
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
    """A linked module, which any thread can instantiate."""

    def __init__(self, linker: Linker, module: Module) -> None:
        self.linked: InstancePre = linker.instantiate_pre(module)
        self.uses_wasi = any(imported.module.startswith("wasi") for imported in module.imports)
        self._types = {export.name: export.type for export in module.exports}
        self.initializes = _shape(self._types.get(INITIALIZE)) == "() -> nothing"
        self.protocol = 0  # the version it uses; 0 until it was asked
        self._checked: dict[str, str] = {}

    def refusal(self, entry: str) -> str:
        """Why `entry` cannot be called as a hook; "" if it can."""
        why = self._checked.get(entry)
        if why is None:
            why = self._checked[entry] = self._check({**REQUIRED, entry: HOOK})
        return why

    def _check(self, required: dict[str, str]) -> str:
        for name, shape in required.items():
            kind = self._types.get(name)
            if kind is None:
                exported = ", ".join(f"`{export}`" for export in sorted(self._types)) or "nothing"
                return f"the module does not export `{name}`; it exports {exported}"
            if (actual := _shape(kind)) != shape:
                return f"the module exports `{name}` as {actual}, and it must be {shape}"
        return ""


class Modules:
    """The loaded modules of an engine."""

    def __init__(self, engine: Engine, linker: Linker, cache: CompiledCache) -> None:
        self._engine = engine
        self._linker = linker
        self._cache = cache
        self._ready: dict[str, tuple[Signature, Loaded]] = {}
        self._loading: dict[str, tuple[Signature, Future[Loaded]]] = {}
        self._lock = threading.Lock()
        # Compiling cannot be stopped. In these threads it goes on after the caller's deadline.
        self._compiling = ThreadPoolExecutor(4, "samuel-wasm-compiler")

    def get(self, path: str, directory: str, timeout: float) -> Loaded:
        """The module at `path`, which is in `directory`. Raises NotLoaded or TimeoutError."""
        try:
            file_signature = signature(os.lstat(path))
        except OSError as error:
            why = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            raise NotLoaded(f"`{path}` {why}") from None
        ready = self._ready.get(path)
        if ready is not None and ready[0] == file_signature:
            return ready[1]
        with self._lock:
            loading = self._loading.get(path)
            if loading is None or loading[0] != file_signature:
                loading = self._loading[path] = file_signature, self._compiling.submit(self._load, path, directory)
        try:
            loaded = loading[1].result(timeout)
        except NotLoaded:
            self._loading.pop(path, None)  # the error may be temporary
            raise
        self._ready[path] = file_signature, loaded
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
        if (compiled := self._cache.load(digest)) is not None:
            try:
                return Module.deserialize(self._engine, compiled)
            except WasmtimeError:  # it was compiled for another processor
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
