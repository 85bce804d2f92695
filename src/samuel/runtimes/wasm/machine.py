"""Calls modules with a wasmtime engine. Imported with the first call of a module: wasmtime is optional.

Every call has its own store and instance, so that no state remains from an earlier call.
"""

from __future__ import annotations

import math
import os
import platform
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version

import msgspec
from wasmtime import Config, Engine, ExitTrap, Func, Linker, Memory, Store, Trap, TrapCode, WasmtimeError

from samuel.events import Event
from samuel.events.event import PROTOCOL
from samuel.files.json import InvalidJson
from samuel.hooks.handler import Handler, Outcome, Package
from samuel.process.output import last_line
from samuel.runtimes.base import Reply, Setting, too_much_output
from samuel.runtimes.confined import Confinement
from samuel.runtimes.results import decode
from samuel.runtimes.wasm import host, wasi
from samuel.runtimes.wasm.cache import CompiledCache
from samuel.runtimes.wasm.call import WasmCall
from samuel.runtimes.wasm.codes import NoAnswer
from samuel.runtimes.wasm.host import WORD
from samuel.runtimes.wasm.modules import ALLOCATE, INITIALIZE, MEMORY, VERSION, Loaded, Modules, NotLoaded
from samuel.trust.content import NO_CONTENT, ContentChanged, TrustedContent

ADDRESSABLE = 1 << 31  # a higher address would make a packed result negative, which means an error
TABLE_LIMIT = 1_000_000  # elements
TICK = 0.01  # seconds between two epochs
LINGER = 100  # ticks without a call, after which the thread of the ticks ends
GRACE = 0.5  # seconds for a thread to return after its deadline
OUT_OF_BOUNDS = 1 << 32  # an address outside of any memory

_encode = msgspec.json.Encoder().encode


class _UnusableModule(Exception):
    """The module broke the protocol, or cannot be started; the message says why."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class WasmRuntime:
    """Calls handlers that are exports of a WebAssembly module."""

    def __init__(self, setting: Setting) -> None:
        """Compiled modules are stored in the cache of the setting."""
        self._root = setting.root
        self._memory_limit = min(setting.limits.handler_memory_bytes, ADDRESSABLE)
        self._output_limit = setting.limits.handler_output_bytes
        self._confinement = Confinement(setting)
        self._engine = _engine()
        self._current = threading.local()  # .call is the call that a thread runs
        linker = Linker(self._engine)
        host.link(linker, self._current)
        wasi.link(linker, self._current)
        compiler = f"wasmtime{version('wasmtime')}-{sys.platform}-{platform.machine()}"
        self._modules = Modules(self._engine, linker, CompiledCache(setting.cache / "wasm", self._root, compiler))
        self._ticker = _Ticker(self._engine.increment_epoch)

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        package = handler.package or _package_without_grants(handler)
        call = WasmCall(self._root, self._confinement, package, handler.config, event, timeout)
        try:
            loaded = self._modules.get(handler.path, package.directory, timeout, content)
        except ContentChanged as error:
            return Reply(Outcome.REFUSED, message=str(error), changed=True)
        except NotLoaded as error:
            return Reply(Outcome.NOT_STARTED, message=str(error))
        except TimeoutError:
            why = f"not compiled after {timeout:g}s; that goes on, and later calls find it done"
            return Reply(Outcome.TIMED_OUT, message=why)
        if why := loaded.refusal(handler.entry):
            return Reply(Outcome.NOT_STARTED, message=f"`{handler.path}`: {why}")
        if loaded.uses_wasi:
            reply = self._in_thread(loaded, handler.entry, call, timeout)
        else:
            reply = self._outcome(loaded, handler.entry, call, timeout)
        if call.denied:  # whatever the module returned
            then = f"; then {reply.message}" if reply.outcome is not Outcome.OK and reply.message else ""
            return Reply(Outcome.REFUSED, message="; ".join(call.denied[:3]) + then, stderr=reply.stderr)
        return reply

    def close(self) -> None:
        self._modules.close()
        self._ticker.close()

    def _in_thread(self, loaded: Loaded, entry: str, call: WasmCall, timeout: float) -> Reply:
        """Call the module in a thread of its own.

        WASI's file functions run in wasmtime, which cannot interrupt them: opening a named pipe would block for
        ever.
        """
        replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()

        def work() -> None:
            replies.put(self._outcome(loaded, entry, call, timeout))

        threading.Thread(target=work, name="samuel-wasm-call", daemon=True).start()
        try:
            return replies.get(timeout=max(call.remaining(), 0.0) + GRACE)
        except queue.Empty:
            why = f"no reply after {timeout:g}s; it is in a file operation, which cannot be interrupted"
            return Reply(Outcome.TIMED_OUT, message=why, stderr=call.stderr)

    def _outcome(self, loaded: Loaded, entry: str, call: WasmCall, timeout: float) -> Reply:
        store = Store(self._engine)
        self._current.call = call
        try:
            with self._ticker:
                answer = self._answer(store, loaded, entry, call)
            if call.remaining() < 0:  # it waited in a host function, and the epoch did not advance since
                return Reply(Outcome.TIMED_OUT, message=f"stopped after {timeout:g}s", stderr=call.stderr)
            result = decode(answer)
        except InvalidJson as error:
            return Reply(Outcome.BAD_OUTPUT, message=str(error), stderr=call.stderr)
        except Trap as trap:
            return self._trapped(trap, call, timeout)
        except ExitTrap as ended:
            why = _with_last_line(f"it called exit({ended.code}) instead of returning", call)
            return Reply(Outcome.CRASHED, message=why, stderr=call.stderr)
        except WasmtimeError as error:
            why = _with_last_line(last_line(str(error), "wasmtime gave up"), call)
            return Reply(Outcome.CRASHED, message=why, stderr=call.stderr)
        except _UnusableModule as error:
            return Reply(error.outcome, message=str(error), stderr=call.stderr)
        except NoAnswer as trouble:  # a granted directory that cannot be opened
            call.note(trouble)
            return Reply(Outcome.NOT_STARTED, message=str(trouble), stderr=call.stderr)
        finally:
            self._current.call = None
            store.close()
        return Reply(Outcome.OK, result, stderr=call.stderr, size=len(answer))

    def _answer(self, store: Store, loaded: Loaded, entry: str, call: WasmCall) -> bytes:
        store.set_epoch_deadline(_ticks(call.remaining()))
        store.set_limits(self._memory_limit, TABLE_LIMIT, instances=1, tables=10, memories=1)
        try:
            if loaded.uses_wasi:
                with call.files.openings() as openings:
                    wasi.enter(store, call, openings)
            exports = loaded.linked.instantiate(store).exports(store)
        except WasmtimeError as error:
            why = last_line(str(error), "wasmtime gave up")
            limit = f" ({self._limit_in_words()})" if "memory" in why else ""
            raise _UnusableModule(Outcome.NOT_STARTED, f"the module cannot be started: {why}{limit}") from None
        memory = exports[MEMORY]
        assert isinstance(memory, Memory)  # `refusal` has checked all exports
        try:
            if loaded.initializes:
                _function(exports, INITIALIZE)(store)
            if loaded.protocol != PROTOCOL:
                loaded.protocol = _function(exports, VERSION)(store)
                if loaded.protocol != PROTOCOL:
                    why = f"the module uses protocol {loaded.protocol}, and this Samuel uses {PROTOCOL}"
                    raise _UnusableModule(Outcome.NOT_STARTED, why)
            payload = _encode(call.event)
            at = _function(exports, ALLOCATE)(store, len(payload)) & WORD
            try:
                memory.write(store, payload, at or OUT_OF_BOUNDS)
            except IndexError:
                why = f"`{ALLOCATE}` has no {len(payload)} bytes for the payload ({self._limit_in_words()})"
                raise _UnusableModule(Outcome.CRASHED, why) from None
            packed = _function(exports, entry)(store, at, len(payload))
        except Trap:
            call.memory = memory.data_len(store)
            raise
        length = packed & WORD
        if length > self._output_limit:
            raise _UnusableModule(Outcome.BAD_OUTPUT, too_much_output(self._output_limit, "").message)
        at = packed >> 32 & WORD
        answer = bytes(memory.read(store, at, at + length))
        if len(answer) != length:
            raise _UnusableModule(Outcome.BAD_OUTPUT, f"it gave {length} bytes at {at}, outside of its memory")
        return answer

    def _trapped(self, trap: Trap, call: WasmCall, timeout: float) -> Reply:
        if trap.trap_code is TrapCode.INTERRUPT:
            return Reply(Outcome.TIMED_OUT, message=f"stopped after {timeout:g}s", stderr=call.stderr)
        why = _with_last_line(last_line(trap.message, "trap"), call)
        if call.memory > self._memory_limit // 4:
            why += f"; it was using {call.memory} bytes of memory ({self._limit_in_words()})"
        call.say(f"{trap.message}\n".encode())
        return Reply(Outcome.CRASHED, message=why, stderr=call.stderr)

    def _limit_in_words(self) -> str:
        return f"{self._memory_limit} bytes is the limit; `handler_memory_bytes` under [limits] sets it"


def _engine() -> Engine:
    config = Config()
    config.epoch_interruption = True
    # A deadline cannot interrupt a thread that waits for another, and the limit covers only one memory.
    config.wasm_threads = False
    config.wasm_multi_memory = False
    config.wasm_memory64 = False
    config.wasm_gc = False
    return Engine(config)


def _function(exports: Mapping[str, object], name: str) -> Func:
    function = exports[name]
    assert isinstance(function, Func)
    return function


def _package_without_grants(handler: Handler) -> Package:
    return Package(name=handler.key, directory=os.path.dirname(handler.path), kind="wasm")


def _with_last_line(why: str, call: WasmCall) -> str:
    stderr_line = last_line(call.stderr, "")
    return f"{why}: {stderr_line}" if stderr_line else why


class _Ticker:
    """Context manager for a call: within it, the epoch advances by one every TICK seconds.

    A module is stopped when the engine's epoch reaches a number. One thread advances the epoch for all calls of an
    engine. It ends some time after the last call: starting a thread for each call would take longer than most.
    """

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance
        self._lock = threading.Lock()
        self._calls = 0
        self._runs = False
        self._closed = False

    def __enter__(self) -> None:
        with self._lock:
            self._calls += 1
            if self._runs:
                return
            self._runs = True
        threading.Thread(target=self._run, name="samuel-wasm-ticker", daemon=True).start()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._calls -= 1

    def close(self) -> None:
        """End the thread as soon as no call is running."""
        self._closed = True

    def _run(self) -> None:
        last, idle = time.perf_counter(), 0
        while self._is_needed(idle):
            time.sleep(TICK)
            # Ticks are counted by the time that passed: on a busy machine this loop is late at times.
            ticks = int((time.perf_counter() - last) / TICK)
            last += ticks * TICK
            for _ in range(ticks):
                self._advance()
            idle = 0 if self._calls else idle + 1

    def _is_needed(self, idle: int) -> bool:
        with self._lock:
            self._runs = bool(self._calls) or not (self._closed or idle > LINGER)
            return self._runs


def _ticks(seconds: float) -> int:
    """How many ticks `seconds` are. The current tick may be nearly over, so it does not count."""
    return math.ceil(max(seconds, 0.0) / TICK) + 1
