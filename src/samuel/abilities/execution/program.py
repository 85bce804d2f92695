"""Running a script or a function of the project as a process of its own, which a deadline can kill."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel.abilities.model import PythonImplementation, ScriptImplementation
from samuel.files.json import InvalidJson, parse
from samuel.process import interpreter, spawn
from samuel.process.environment import WITHHELD
from samuel.process.reason import NotRunnable
from samuel.runtimes.confined import NEEDED, SAMUEL
from samuel.runtimes.exec import ending

SECONDS = 600.0
"""How long an ability has that does not say."""

# -P and the end of the path: neither the project's directory nor Samuel's may shadow anything.
_START = (
    "import sys; sys.path += sys.argv.pop(1), sys.argv.pop(1); "
    "from samuel.abilities.execution.child import main; main()"
)
_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


class ProgramResult(NamedTuple):
    """How it went."""

    ran: str
    """What ran, in one line; "" if nothing did."""
    output: Any = None
    error: str = ""
    """Why it failed; "" if it did not."""
    stderr: str = ""
    warnings: tuple[str, ...] = ()


class ProgramSettings(NamedTuple):
    """What programs are run with."""

    root: Path
    variables: Mapping[str, str]
    """What they see."""
    host: Mapping[str, str]
    """Where `$NAME` is looked up."""
    cache: Path
    output_limit: int


def run_script(
    script: ScriptImplementation,
    words: Sequence[str],
    given: Mapping[str, Any],
    own: Mapping[str, str],
    machine: ProgramSettings,
) -> ProgramResult:
    """`words` are its arguments, filled in; `own` are variables that nobody may set otherwise."""
    ran = shlex.join((script.path, *words))
    try:
        argv = interpreter.command(
            machine.root / script.path,
            *words,
            path=machine.variables["PATH"],
            pycache=_pycache(machine),
            cache_dir=machine.cache,
        )
    except NotRunnable as error:
        return ProgramResult("", error=str(error))
    return _run(argv, ran, script, given, own, machine)


def run_function(
    function: PythonImplementation,
    file: Path | None,
    given: Mapping[str, Any],
    own: Mapping[str, str],
    machine: ProgramSettings,
) -> ProgramResult:
    """`file` is the file of the project that it is in; None for a module that is installed."""
    module, _, name = function.function.rpartition(":")
    if file is not None and not file.is_file():
        return ProgramResult("", error=f"`{file}` does not exist")
    argv = [sys.executable, "-P", "-X", f"pycache_prefix={_pycache(machine)}", "-c", _START, SAMUEL, NEEDED]
    return _run([*argv, str(file or module), name], function.function, function, given, own, machine)


def _run(
    argv: list[str],
    ran: str,
    how: ScriptImplementation | PythonImplementation,
    given: Mapping[str, Any],
    own: Mapping[str, str],
    machine: ProgramSettings,
) -> ProgramResult:
    variables, warnings = resolved(how.env, machine.host)
    seconds = SECONDS if how.timeout is None else how.timeout
    finished = spawn.run(
        argv,
        cwd=str(machine.root),
        env={**machine.variables, **variables, **own},
        stdin=msgspec.json.encode(given),
        timeout=seconds,
        output_limit=machine.output_limit,
    )
    if finished.ended == "not_started":
        return ProgramResult("", error=finished.why)
    done = ProgramResult(ran, stderr=finished.stderr.decode("utf-8", "replace"), warnings=warnings)
    if finished.ended == "timed_out":
        return done._replace(error=f"killed after {seconds:g}s")
    if finished.ended == "too_much_output":
        limit = f"more than {machine.output_limit} bytes of output"
        return done._replace(error=f"{limit}; `handler_output_bytes` under [limits] sets the limit")
    if finished.returncode != 0:
        said = done.stderr if done.stderr.strip() else finished.stdout.decode("utf-8", "replace")
        return done._replace(error=ending(finished.returncode, said))
    try:
        return done._replace(output=parse(finished.stdout) if finished.stdout.strip() else None)
    except InvalidJson as error:
        return done._replace(error=f"its output is {error}")


def resolved(env: Mapping[str, str], host: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """An ability's variables with the values they have outside, and a word about those that have none."""
    found, warnings = {}, []
    for name, value in env.items():
        reference = _REFERENCE.fullmatch(value)
        outside = reference[1] if reference else ""
        if name in WITHHELD or outside in WITHHELD:
            warnings.append(f"`{name}` is left out of its environment: it is not for abilities")
        elif not reference:
            found[name] = value
        elif outside in host:
            found[name] = host[outside]
        else:
            warnings.append(f"`{name}` is left out of its environment: `{value}` is not set")
    return found, tuple(warnings)


def _pycache(machine: ProgramSettings) -> str:
    return str(machine.cache / "pycache")
