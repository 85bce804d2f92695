"""Checks that the functions that a manifest binds exist. Their files are read, not imported or run."""

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
from samuel.plugins.exports import exported_functions
from samuel.plugins.model import PYTHON, WASM, Manifest

LARGEST = 32 * 1024 * 1024

_STAR = re.compile(rb"^\s*from\s.*\simport\s*\*", re.MULTILINE)


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


_READERS: Mapping[str, Callable[[bytes], list[str] | None]] = MappingProxyType(
    {PYTHON: _defined, WASM: exported_functions}
)
