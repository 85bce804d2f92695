"""WASI for modules that are built with a libc: granted directories, granted variables, the clock, randomness.

wasmtime implements nearly all of it. `poll_oneoff` is replaced, because wasmtime's sleeps past the deadline, and
with it `clock_time_get`, because a module may wait until an absolute time.
"""

from __future__ import annotations

import os
import re
import struct
import threading
import time
from collections.abc import Sequence

from wasmtime import Caller, FuncType, Linker, Memory, Store, ValType, WasiConfig

from samuel.process.environment import WITHHELD
from samuel.runtimes.wasm.call import WasmCall
from samuel.runtimes.wasm.files import Opening

MODULE = "wasi_snapshot_preview1"

_DESCRIPTORS = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
_SURROGATE = re.compile("[\ud800-\udfff]")
_SUBSCRIPTION = struct.Struct("<Q B 7x I 4x Q 8x H 6x")  # userdata, kind, clock or file, timeout, flags
_EVENT = struct.Struct("<Q H B 5x Q H 6x")  # userdata, error, kind, bytes, flags
_CLOCKS = {0: time.time_ns, 1: time.monotonic_ns}  # the wall clock, and the monotonic clock
_CLOCK, _ABSOLUTE = 0, 1
_SUCCESS, _FAULT, _INVALID = 0, 21, 28


def link(linker: Linker, current: threading.local) -> None:
    """Define all of WASI; `current.call` is the call that this thread runs."""
    linker.define_wasi()

    def poll_oneoff(caller: Caller, at: int, out: int, count: int, counted: int) -> int:
        return _poll(caller, current.call, at, out, count, counted)

    i32, i64 = ValType.i32(), ValType.i64()
    linker.allow_shadowing = True
    linker.define_func(MODULE, "poll_oneoff", FuncType([i32] * 4, [i32]), poll_oneoff, access_caller=True)
    linker.define_func(MODULE, "clock_time_get", FuncType([i32, i64, i32], [i32]), _time, access_caller=True)
    linker.allow_shadowing = False


def enter(store: Store, call: WasmCall, openings: Sequence[Opening]) -> None:
    """Give the store its own WASI, with nothing of this process except what is listed here."""
    wasi = WasiConfig()
    wasi.env = _variables(call.package.grants.env).items()
    wasi.stdout_custom = call.say
    wasi.stderr_custom = call.say
    for opening in openings:
        # By descriptor: the path may have been replaced.
        wasi.preopen_dir(f"{_DESCRIPTORS}/{opening.fd}", opening.name, opening.writable)
    store.set_wasi(wasi)


def _time(caller: Caller, clock: int, precision: int, out: int) -> int:
    memory = caller.get("memory")
    out &= 0xFFFFFFFF
    if clock not in _CLOCKS:
        return _INVALID
    if not isinstance(memory, Memory) or out + 8 > memory.data_len(caller):
        return _FAULT
    memory.write(caller, _CLOCKS[clock]().to_bytes(8, "little"), out)
    return _SUCCESS


def _poll(caller: Caller, call: WasmCall, at: int, out: int, count: int, counted: int) -> int:
    memory = caller.get("memory")
    if not isinstance(memory, Memory):
        return _FAULT
    room = memory.data_len(caller)
    at, out, count, counted = (number & 0xFFFFFFFF for number in (at, out, count, counted))
    ends = (at + count * _SUBSCRIPTION.size, out + count * _EVENT.size, counted + 4)
    if count == 0:
        return _INVALID
    if max(ends) > room:
        return _FAULT
    subscriptions = list(_SUBSCRIPTION.iter_unpack(memory.read(caller, at, ends[0])))
    # Files and the standard streams are always ready.
    ready = [(userdata, 0, kind, 0, 0) for userdata, kind, _, _, _ in subscriptions if kind != _CLOCK]
    if not ready:
        waits = [_wait(clock, timeout, flags) for _, _, clock, timeout, flags in subscriptions]
        shortest = min(waits)
        time.sleep(max(0.0, min(shortest, call.remaining())))
        ready = [
            (subscription[0], 0, _CLOCK, 0, 0)
            for subscription, wait in zip(subscriptions, waits, strict=True)
            if wait == shortest
        ]
    memory.write(caller, b"".join(_EVENT.pack(*event) for event in ready), out)
    memory.write(caller, len(ready).to_bytes(4, "little"), counted)
    return _SUCCESS


def _wait(clock: int, timeout: int, flags: int) -> float:
    now = _CLOCKS[clock]() if flags & _ABSOLUTE and clock in _CLOCKS else 0
    return (timeout - now) / 1e9


def _variables(granted: Sequence[str]) -> dict[str, str]:
    """The environment of a module. Values that are not UTF-8 are left out: WASI has only UTF-8."""
    names = (name for name in granted if name in os.environ and name not in WITHHELD)
    return {name: os.environ[name] for name in names if not _SURROGATE.search(os.environ[name])}
