"""Do the functions that a manifest binds exist in their files? The files are read and never imported."""

from __future__ import annotations

import difflib
import re
import symtable
import warnings
from pathlib import Path

from samuel.config.keys import shown
from samuel.errors import Problem
from samuel.files.inside import read_inside
from samuel.plugins.model import PYTHON, Manifest

LARGEST = 1024 * 1024

_STAR = re.compile(rb"^\s*from\s.*\simport\s*\*", re.MULTILINE)


def missing(directory: Path, manifest: Manifest) -> list[Problem]:
    """Every function that is bound and is not there, and every file of theirs that is no Python."""
    problems: list[Problem] = []
    wanted: dict[str, list[tuple[str, int]]] = {}
    for binding in manifest.bindings if manifest.kind == PYTHON else ():
        file, _, function = binding.entry.rpartition(":")
        wanted.setdefault(file or manifest.module, []).append((function, binding.line))
    for file, functions in wanted.items():
        data = read_inside(directory, file, limit=LARGEST)
        try:
            known = _names(data, file)
        except SyntaxError as error:
            problems.append(Problem(f"not valid Python: {error.msg}", str(directory / file), error.lineno or 0))
            continue
        except (ValueError, RecursionError, MemoryError) as error:  # not UTF-8, NUL bytes, nested too deeply
            problems.append(Problem(f"not valid Python: {error}", str(directory / file)))
            continue
        if _STAR.search(data):
            continue  # what that brings only Python could say
        for function, line in functions:
            if function not in known:
                near = difflib.get_close_matches(function, known, n=1)
                hint = f"did you mean `{near[0]}`?" if near else ""
                problems.append(Problem(f"`{file}` has no `{shown(function)}`", manifest.file, line, hint))
    return problems


def _names(data: bytes, file: str) -> list[str]:
    """What the module defines, assigns or imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its syntax: they are for whoever runs it
        table = symtable.symtable(data.decode("utf-8-sig"), file, "exec")
    return [one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()]
