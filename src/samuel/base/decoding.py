"""Typed decoding with msgspec, safe for threads: whatever gives msgspec a type does it through this module.

msgspec builds its description of a type when the type is first used, and stores it on the class before it is
complete. A second thread that uses the type meanwhile follows a null pointer, and the process ends with SIGSEGV.
So a type, and with it all types nested in it, is built under one lock before its first use. Building all of them
at start would cost each command about 30 ms.

Encoding needs none of this: it uses what a class has had since it was defined.

Lint refuses `msgspec.convert` and its like in every other module (`banned-api` in pyproject.toml).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_built: set[Any] = set()
_building = threading.RLock()


@overload
def convert(value: Any, kind: type[T]) -> T: ...
@overload
def convert(value: Any, kind: Any) -> Any: ...
def convert(value: Any, kind: Any) -> Any:
    """`value`, which is made of plain objects, as a value of `kind`."""
    if kind not in _built:
        build(kind)
    return msgspec.convert(value, kind)


@overload
def decode_json(data: bytes | str, kind: type[T]) -> T: ...
@overload
def decode_json(data: bytes | str, kind: Any = Any) -> Any: ...
def decode_json(data: bytes | str, kind: Any = Any) -> Any:
    if kind not in _built:
        build(kind)
    return msgspec.json.decode(data, type=kind)


@overload
def json_decoder(kind: type[T]) -> Callable[[bytes], T]: ...
@overload
def json_decoder(kind: Any = Any) -> Callable[[bytes], Any]: ...
def json_decoder(kind: Any = Any) -> Callable[[bytes], Any]:
    """A function that decodes JSON as `kind`: faster than `decode_json` where the same type is read often."""
    build(kind)
    return msgspec.json.Decoder(kind).decode


def msgpack_decoder(kind: type[T]) -> Callable[[bytes | memoryview], T]:
    build(kind)
    return msgspec.msgpack.Decoder(kind).decode


def build(kind: Any) -> None:
    """Let msgspec learn `kind` and all types nested in it, while no other thread can see it half done."""
    with _building:
        msgspec.msgpack.Decoder(kind)
        _built.add(kind)
