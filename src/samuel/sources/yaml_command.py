"""What a YAML hook runs: the program, the function, and the files of the project that are part of it.

A script can load the files beside it, so they must be trusted as well; of a script in the project's root, only the
script. The same holds for files in the arguments of a program: `python3 scripts/check.py`. A program outside the
project belongs to the user and needs no trust.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samuel.base.printable import shell_word
from samuel.clients.hook_formats import yaml_context
from samuel.clients.table import HOOK_FORMATS
from samuel.files.command_files import expanded, named_files
from samuel.files.modules import module_file
from samuel.sources.yaml_hook import BUILTIN, PYTHON, YamlHook

PROJECT_VARIABLES = tuple({hook_format.project_variable: None for hook_format in HOOK_FORMATS.values()})


def command(hook: YamlHook, root: Path) -> dict[str, Any]:
    """The fields of `Handler` that say what is run."""
    if hook.kind == BUILTIN:
        return {"runtime": "python", "module": hook.module, "entry": hook.function}
    if hook.kind == PYTHON:
        return _function(hook, root)
    client, _, client_event = hook.protocol.partition("/")
    dialect = {"dialect": client or yaml_context.NAME, "client_event": client_event}
    return {"runtime": "exec", **dialect, **_script(hook, root)}


def missing_program(command_fields: Mapping[str, Any]) -> str:
    """Why the program of a command cannot be run; "" if it can."""
    path = command_fields.get("path", "")
    if not os.path.isabs(path):
        return ""  # a program of the user, or a module: looked up when it is called
    if not os.path.isfile(path):
        return f"`{path}` does not exist" if not os.path.lexists(path) else f"`{path}` is not a file"
    if command_fields["runtime"] == "exec" and not os.access(path, os.X_OK):
        return f"`{path}` is not executable; `chmod +x {shell_word(path)}`"
    return ""


def _function(hook: YamlHook, root: Path) -> dict[str, Any]:
    file = hook.file or module_file(hook.module, root)
    fields: dict[str, Any] = {"runtime": "python", "entry": hook.function}
    if not file:
        return {**fields, "module": hook.module}
    return {**fields, "path": str(root / file), "runs": (str(root / file),)}


def _script(hook: YamlHook, root: Path) -> dict[str, Any]:
    # A script that was written for an agent may be named by that agent's variable for the project.
    variables = dict.fromkeys(PROJECT_VARIABLES, str(root)) if hook.protocol else {}
    program, *arguments = ("sh", "-c", *hook.words) if hook.shell else hook.words
    plain = [expanded(word, variables) for word in arguments]
    if "/" not in program:
        return {"path": program, "arguments": tuple(arguments), "runs": tuple(named_files(plain, root))}
    path = os.path.normpath(os.path.join(root, expanded(program, variables)))
    return {"path": path, "arguments": tuple(arguments), "runs": tuple(named_files([path, *plain], root))}
