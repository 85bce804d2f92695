"""Checks that the functions that a manifest binds exist. Their files are read, not imported, compiled or run."""

from __future__ import annotations

import re
import symtable
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from samuel.base.errors import Problem, SamuelError
from samuel.base.nearest import SpellingHints
from samuel.base.printable import shorten
from samuel.files.inside import read_inside
from samuel.plugins.model import PYTHON, WASM, Manifest

LARGEST = 32 * 1024 * 1024

_STAR = re.compile(rb"^\s*from\s.*\simport\s*\*", re.MULTILINE)
CORE = b"\0asm\1\0\0\0"
_EXPORTS = 7  # the number of that section
_FUNCTION = 0


def missing(directory: Path, manifest: Manifest) -> list[Problem]:
    """A problem for every bound function that does not exist, and for every file that cannot be read."""
    if manifest.kind not in _READERS:
        return []
    problems: list[Problem] = []
    hints = SpellingHints()
    functions_of: dict[str, list[tuple[str, int]]] = {}
    for binding in manifest.bindings:
        file, _, function = binding.entry.rpartition(":") if manifest.kind == PYTHON else ("", "", binding.entry)
        functions_of.setdefault(file or manifest.module, []).append((function, binding.line))
    for file, functions in functions_of.items():
        try:
            defined = _READERS[manifest.kind](read_inside(directory, file, limit=LARGEST))
        except SyntaxError as error:
            problems.append(Problem(f"not valid Python: {error.msg}", str(directory / file), error.lineno or 0))
        except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes, nested too deeply, no module
            problems.append(Problem(f"it cannot be read: {error}", str(directory / file)))
        except SamuelError as error:
            problems.append(Problem(error.message, str(directory / file), hint=error.hint))
        else:
            problems += [
                Problem(
                    f"`{file}` has no `{shorten(function)}`",
                    manifest.file,
                    line,
                    hints.did_you_mean(function, defined),
                )
                for function, line in functions
                if defined is not None and function not in defined
            ]
    return problems


def _defined(data: bytes) -> list[str] | None:
    """The names that a Python module defines, assigns or imports; None if only running it could tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its syntax; they are shown when it runs
        table = symtable.symtable(data.decode("utf-8-sig"), "module", "exec")
    if _STAR.search(data):
        return None
    return [symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()]


def exported_functions(data: bytes) -> list[str]:
    """The functions that a WebAssembly module exports, in its order; ValueError if it is not a module."""
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


_READERS: Mapping[str, Callable[[bytes], list[str] | None]] = MappingProxyType(
    {PYTHON: _defined, WASM: exported_functions}
)
