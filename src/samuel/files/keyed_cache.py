"""Values by key in one cache file: for questions that are asked again, each with its own key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache

V = TypeVar("V")

MOST_VALUES = 500
"""Values in one file; the oldest are dropped."""


class KeyedCache(Generic[V]):
    """A cache of values of one type. Without a file nothing is cached."""

    def __init__(self, file: Path | None, kind: type[V]) -> None:
        self._file = file
        table: Any = dict[str, kind]  # type: ignore[valid-type]
        self._decode: Callable[[memoryview], dict[str, V]] = msgpack_decoder(table)

    def get(self, key: str) -> V | None:
        return self._load().get(key)

    def add(self, key: str, value: V) -> None:
        values = {**self._load(), key: value}
        file_cache.save(self._file, dict(list(values.items())[-MOST_VALUES:]), msgspec.msgpack.encode)

    def _load(self) -> dict[str, V]:
        return file_cache.load(self._file, self._decode) or {}
