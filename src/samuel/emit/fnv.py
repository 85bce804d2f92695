"""FNV-1a with 64 bits: names for files and sockets, without importing `hashlib`. Not a cryptographic hash."""

from __future__ import annotations

_BASIS, _PRIME, MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def fnv1a(data: bytes) -> int:
    value = _BASIS
    for byte in data:
        value = (value ^ byte) * _PRIME & MASK
    return value
