"""What a YAML hook runs: the program, the function, and the files of the project that are part of it.

A script can load the files beside it, so they must be trusted as well; of a script in the project's root, only the
script. The same holds for files in the arguments of a program: `python3 scripts/check.py`. A program outside the
project belongs to the user and needs no trust.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from samuel.dialects import yaml_context
from samuel.files.modules import module_file
from samuel.sources.yaml_hook import BUILTIN, PYTHON, YamlHook

_WORD_BREAK = re.compile(r"""[\s"'`=;|&<>()]+""")  # where a shell would end a word


def command(hook: YamlHook, root: Path) -> dict[str, Any]:
    """The fields of `Handler` that say what is run."""
    if hook.kind == BUILTIN:
        return {"runtime": "python", "module": hook.module, "entry": hook.function}
    if hook.kind == PYTHON:
        return _function(hook, root)
    return {"runtime": "exec", "dialect": yaml_context.NAME, **_script(hook, root)}


def missing_program(command_fields: Mapping[str, Any]) -> str:
    """Why the program of a command cannot be run; "" if it can."""
    path = command_fields.get("path", "")
    if not os.path.isabs(path):
        return ""  # a program of the user, or a module: looked up when it is called
    if not os.path.isfile(path):
        return f"`{path}` does not exist" if not os.path.lexists(path) else f"`{path}` is not a file"
    if command_fields["runtime"] == "exec" and not os.access(path, os.X_OK):
        return f"`{path}` is not executable; `chmod +x {path}`"
    return ""


def _function(hook: YamlHook, root: Path) -> dict[str, Any]:
    file = hook.file or module_file(hook.module, root)
    fields: dict[str, Any] = {"runtime": "python", "entry": hook.function}
    if not file:
        return {**fields, "module": hook.module}
    return {**fields, "path": str(root / file), "runs": (str(root / file),)}


def _script(hook: YamlHook, root: Path) -> dict[str, Any]:
    if hook.shell:
        (line,) = hook.words
        return {"path": "sh", "arguments": ("-c", line), "runs": tuple(named_files([line], root))}
    program, *arguments = hook.words
    if "/" not in program:
        return {"path": program, "arguments": tuple(arguments), "runs": tuple(named_files(arguments, root))}
    path = os.path.normpath(os.path.join(root, program))
    return {"path": path, "arguments": tuple(arguments), "runs": tuple(named_files([path, *arguments], root))}


def named_files(words: Iterable[str], root: Path) -> Iterator[str]:
    """The files of the project that these words name, whether they exist yet or not."""
    pieces = [piece for word in words for piece in _pieces(word)]
    modules = [after for before, after in pairwise(pieces) if before == "-m"]
    for name in dict.fromkeys([*pieces, *(module_file(name, root) for name in modules)]):
        path = os.path.normpath(os.path.join(root, name))
        if name and not name.startswith("-") and path.startswith(f"{root}{os.sep}") and not os.path.isdir(path):
            yield path


def _pieces(word: str) -> Iterator[str]:
    """A word may be a command itself, as after `bash -c`, or hold a name, as in `--file=name`."""
    yield word
    with suppress(ValueError):  # an unclosed quote
        yield from shlex.split(word)
    yield from _WORD_BREAK.split(word)
