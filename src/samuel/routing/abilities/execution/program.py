"""Run a script or a Python function of the project in its own process, which a timeout can kill."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel.files.json import InvalidJson, parse
from samuel.process import interpreter, spawn
from samuel.process.compiled_python import keep_uncompiled
from samuel.process.environment import WITHHELD
from samuel.process.output import ending
from samuel.process.reason import NotRunnable
from samuel.routing.abilities.model import PythonImplementation, ScriptImplementation
from samuel.runtimes.python import NEEDED, SAMUEL

SECONDS = 600.0
"""The timeout of an ability that does not set one."""

# -P, and appended to the path: neither the project's nor Samuel's directory may shadow other modules.
_START = (
    "import sys; sys.path += sys.argv.pop(1), sys.argv.pop(1); "
    "from samuel.routing.abilities.execution.child import main; main()"
)
_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


class ProgramResult(NamedTuple):
    """The result of an implementation."""

    ran: str
    """What ran, in one line; "" if nothing ran."""
    output: Any = None
    error: str = ""
    """Why it failed; "" if it did not."""
    stderr: str = ""
    warnings: tuple[str, ...] = ()


class ProgramSettings(NamedTuple):
    """The settings that all programs of a project share."""

    root: Path
    variables: Mapping[str, str]
    """Their environment."""
    host: Mapping[str, str]
    """The environment in which `$NAME` is looked up."""
    cache: Path
    output_limit: int


def run_script(
    script: ScriptImplementation,
    words: Sequence[str],
    call_input: Mapping[str, Any],
    call_variables: Mapping[str, str],
    settings: ProgramSettings,
) -> ProgramResult:
    """`words` are its arguments without placeholders; `call_variables` override every other variable."""
    ran = shlex.join((script.path, *words))
    try:
        argv = interpreter.command(
            settings.root / script.path,
            *words,
            path=settings.variables["PATH"],
            pycache=_pycache(settings),
            cache_dir=settings.cache,
        )
    except NotRunnable as error:
        return ProgramResult("", error=str(error))
    directory = os.path.dirname(os.path.abspath(settings.root / script.path))
    if directory != str(settings.root):  # which has everything else, too
        keep_uncompiled(directory, _pycache(settings))
    return _run(argv, ran, script, call_input, call_variables, settings)


def run_function(
    function: PythonImplementation,
    file: Path | None,
    call_input: Mapping[str, Any],
    call_variables: Mapping[str, str],
    settings: ProgramSettings,
) -> ProgramResult:
    """`file` is the project's file with the function; None for an installed module."""
    module, _, name = function.function.rpartition(":")
    if file is not None and not file.is_file():
        return ProgramResult("", error=f"`{file}` does not exist")
    argv = [sys.executable, "-P", "-X", f"pycache_prefix={_pycache(settings)}", "-c", _START, SAMUEL, NEEDED]
    return _run(
        [*argv, str(file or module), name], function.function, function, call_input, call_variables, settings
    )


def _run(
    argv: list[str],
    ran: str,
    how: ScriptImplementation | PythonImplementation,
    call_input: Mapping[str, Any],
    call_variables: Mapping[str, str],
    settings: ProgramSettings,
) -> ProgramResult:
    variables, warnings = resolve_variables(how.env, settings.host)
    seconds = SECONDS if how.timeout is None else how.timeout
    finished = spawn.run(
        argv,
        cwd=str(settings.root),
        env={**settings.variables, **variables, **call_variables},
        stdin=msgspec.json.encode(call_input),
        timeout=seconds,
        output_limit=settings.output_limit,
    )
    if finished.ended == "not_started":
        return ProgramResult("", error=finished.why)
    done = ProgramResult(ran, stderr=finished.stderr.decode("utf-8", "replace"), warnings=warnings)
    if finished.ended == "timed_out":
        return done._replace(error=f"killed after {seconds:g}s")
    if finished.ended == "too_much_output":
        limit = f"more than {settings.output_limit} bytes of output"
        return done._replace(error=f"{limit}; `handler_output_bytes` under [limits] sets the limit")
    if finished.returncode != 0:
        output_text = done.stderr if done.stderr.strip() else finished.stdout.decode("utf-8", "replace")
        return done._replace(error=ending(finished.returncode, output_text))
    try:
        return done._replace(output=parse(finished.stdout) if finished.stdout.strip() else None)
    except InvalidJson as error:
        return done._replace(error=f"its output is {error}")


def resolve_variables(env: Mapping[str, str], host: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """An ability's variables with references replaced by the host's values, and warnings for those left out."""
    variables, warnings = {}, []
    for name, value in env.items():
        reference = _REFERENCE.fullmatch(value)
        outside = reference[1] if reference else ""
        if name in WITHHELD or outside in WITHHELD:
            warnings.append(f"`{name}` is left out of its environment: it is not for abilities")
        elif not reference:
            variables[name] = value
        elif outside in host:
            variables[name] = host[outside]
        else:
            warnings.append(f"`{name}` is left out of its environment: `{value}` is not set")
    return variables, tuple(warnings)


def _pycache(settings: ProgramSettings) -> str:
    return str(settings.cache / "pycache")
