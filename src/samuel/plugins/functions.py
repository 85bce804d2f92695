"""Do the functions that a manifest binds exist in their files? The files are read, and never imported or run."""

from __future__ import annotations

import re
import symtable
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from samuel.errors import Problem, SamuelError
from samuel.files.inside import read_inside
from samuel.nearest import SpellingHints
from samuel.plugins.exports import exported_functions
from samuel.plugins.model import PYTHON, WASM, Manifest
from samuel.printable import shorten

LARGEST = 32 * 1024 * 1024

_STAR = re.compile(rb"^\s*from\s.*\simport\s*\*", re.MULTILINE)


def missing(directory: Path, manifest: Manifest) -> list[Problem]:
    """Every function that is bound and is not there, and every file of theirs that is not what it should be."""
    if manifest.kind not in _READERS:
        return []
    problems: list[Problem] = []
    hints = SpellingHints()
    wanted: dict[str, list[tuple[str, int]]] = {}
    for binding in manifest.bindings:
        file, _, function = binding.entry.rpartition(":") if manifest.kind == PYTHON else ("", "", binding.entry)
        wanted.setdefault(file or manifest.module, []).append((function, binding.line))
    for file, functions in wanted.items():
        try:
            known = _READERS[manifest.kind](read_inside(directory, file, limit=LARGEST))
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
                    hints.did_you_mean(function, known),
                )
                for function, line in functions
                if known is not None and function not in known
            ]
    return problems


def _defined(data: bytes) -> list[str] | None:
    """What a Python module defines, assigns or imports; None where only Python could say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its syntax: they are for whoever runs it
        table = symtable.symtable(data.decode("utf-8-sig"), "module", "exec")
    if _STAR.search(data):
        return None
    return [one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()]


_READERS: Mapping[str, Callable[[bytes], list[str] | None]] = MappingProxyType(
    {PYTHON: _defined, WASM: exported_functions}
)
