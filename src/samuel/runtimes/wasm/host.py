"""The functions of module `samuel` that every plugin may import, as `wasm/__init__.py` describes them.

They never raise: wasmtime stores one exception for the whole process, and another thread could get it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec
from wasmtime import Caller, Func, FuncType, Linker, Memory, Trap, ValType, WasmtimeError

from samuel.runtimes.wasm import net, programs
from samuel.runtimes.wasm.call import WasmCall
from samuel.runtimes.wasm.codes import BadArgument, Failed, NoAnswer, NotThere, TooLarge
from samuel.runtimes.wasm.modules import ALLOCATE, MEMORY

MODULE = "samuel"
WORD = 0xFFFFFFFF  # wasm has no unsigned numbers: wasmtime gives high addresses as negative ones

_encode = msgspec.json.Encoder().encode


def link(linker: Linker, current: threading.local) -> None:
    """Define all functions; `current.call` is the call that this thread runs."""
    i32, i64 = ValType.i32(), ValType.i64()

    def define(name: str, params: int, results: list[ValType], function: Callable[..., int | None]) -> None:
        linker.define_func(MODULE, name, FuncType([i32] * params, results), function, access_caller=True)

    def log(caller: Caller, level: int, at: int, length: int) -> None:
        call: WasmCall = current.call
        try:
            call.log(level, _argument(caller, call, at, length))
        except NoAnswer as trouble:
            call.note(trouble)

    def answering(work: Callable[[WasmCall, bytes], bytes]) -> Callable[[Caller, int, int], int]:
        def function(caller: Caller, at: int, length: int) -> int:
            call: WasmCall = current.call
            try:
                return _returned(caller, call, work(call, _argument(caller, call, at, length)))
            except NoAnswer as trouble:
                return call.note(trouble)

        return function

    def fs_write(caller: Caller, at: int, length: int, data_at: int, data_length: int) -> int:
        call: WasmCall = current.call
        try:
            path, data = _argument(caller, call, at, length), _argument(caller, call, data_at, data_length)
            call.files.write(_text(path), data)
        except NoAnswer as trouble:
            return call.note(trouble)
        return 0

    define("log", 3, [], log)
    define("fs_read", 2, [i64], answering(lambda call, path: call.files.read(_text(path))))
    define("fs_write", 4, [i32], fs_write)
    define("exec", 2, [i64], answering(programs.run))
    define("net", 2, [i64], answering(_fetch))
    define("config_get", 2, [i64], answering(_config))


def _fetch(call: WasmCall, request: bytes) -> bytes:
    return net.fetch(request, call.package.grants.hosts, call.deadline)


def _config(call: WasmCall, key: bytes) -> bytes:
    name = _text(key)
    if not name:
        return _encode(call.config)
    if name not in call.config:
        raise NotThere(f"there is no setting `{name}`")
    return _encode(call.config[name])


# The module's memory


def _argument(caller: Caller, call: WasmCall, at: int, length: int) -> bytes:
    if call.answering:  # else each could call the other until the stack overflows
        raise Failed(f"`{ALLOCATE}` cannot call host functions while one of them waits for it")
    memory = caller.get(MEMORY)
    at, end = at & WORD, (at & WORD) + (length & WORD)
    if not isinstance(memory, Memory) or end > memory.data_len(caller):
        raise BadArgument("an argument lies outside of the module's memory")
    return bytes(memory.read(caller, at, end))


def _returned(caller: Caller, call: WasmCall, answer: bytes) -> int:
    """Write a reply into memory from the module's own allocator; return its address and length."""
    if not answer:
        return 0
    memory, allocate = caller.get(MEMORY), caller.get(ALLOCATE)
    if not isinstance(memory, Memory) or not isinstance(allocate, Func):
        raise Failed(f"the module does not export `{MEMORY}` and `{ALLOCATE}`")
    call.answering = True
    try:
        at = allocate(caller, len(answer)) & WORD
    except (Trap, WasmtimeError) as error:
        raise Failed(f"`{ALLOCATE}`: {error}") from None
    finally:
        call.answering = False
    if not at or at + len(answer) > memory.data_len(caller):
        raise TooLarge(f"`{ALLOCATE}` has no {len(answer)} bytes for the answer")
    memory.write(caller, answer, at)
    return int(at << 32 | len(answer))


def _text(words: bytes) -> str:
    try:
        return words.decode()
    except UnicodeDecodeError:
        raise BadArgument("an argument is not UTF-8") from None
