"""The functions that a WebAssembly module exports, read from its bytes: nothing is compiled or run."""

from __future__ import annotations

CORE = b"\0asm\1\0\0\0"

_EXPORTS = 7  # the number of that section
_FUNCTION = 0


def exported_functions(data: bytes) -> list[str]:
    """The names of the exported functions, in the order of the module; ValueError if it is not a module."""
    if not data.startswith(CORE):
        raise ValueError("it is not a core WebAssembly module")
    reader = _Reader(data, len(CORE))
    try:
        while reader.at < len(data):
            section, size = reader.byte(), reader.number()
            if section == _EXPORTS:
                return [name for name, kind in reader.exports() if kind == _FUNCTION]
            reader.skip(size)
    except (IndexError, UnicodeDecodeError):
        raise ValueError("it is truncated, or not a WebAssembly module") from None
    return []


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def number(self) -> int:
        """An unsigned LEB128 number: seven bits a byte, the lowest first; the eighth announces another byte."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise IndexError("a number of more than 32 bits")

    def skip(self, size: int) -> int:
        """Skip `size` bytes; returns the position before."""
        before, self.at = self.at, self.at + size
        if self.at > len(self._data):
            raise IndexError("it continues after the end of the file")
        return before

    def exports(self) -> list[tuple[str, int]]:
        names = []
        for _ in range(self.number()):
            name = self._text(self.number())
            names.append((name, self.byte()))
            self.number()  # which one of its kind
        return names

    def _text(self, size: int) -> str:
        return self._data[self.skip(size) : self.at].decode()
