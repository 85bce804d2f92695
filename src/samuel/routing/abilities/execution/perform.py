"""Run the implementation of an ability: a script, a function, or a prompt to an agent.

A script and a Python function run in a process of their own, which a timeout can kill.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel.base.errors import SamuelError
from samuel.files.inside import read_inside
from samuel.files.json import InvalidJson, parse
from samuel.process import interpreter, spawn
from samuel.process.compiled_python import keep_uncompiled
from samuel.process.environment import WITHHELD
from samuel.process.output import ending
from samuel.process.reason import NotRunnable
from samuel.routing.abilities import placeholders
from samuel.routing.abilities.execution.call import indented
from samuel.routing.abilities.execution.call_store import LARGEST, PLACE
from samuel.routing.abilities.execution.check import with_defaults
from samuel.routing.abilities.execution.trust import file_of
from samuel.routing.abilities.model import (
    Ability,
    PromptImplementation,
    PythonImplementation,
    ScriptImplementation,
)
from samuel.runtimes.python import NEEDED, SAMUEL

SECONDS = 600.0
"""The timeout of an ability that does not set one."""

OUTPUT = "output.json"
"""The file in the folder of the call for the result, since agents print their output in different formats."""

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

    @property
    def pycache(self) -> str:
        return str(self.cache / "pycache")


class AgentOutput(NamedTuple):
    """The result of an agent."""

    agent: str
    response: str = ""
    """The end of its output."""
    changed_files: tuple[str, ...] = ()
    error: str = ""
    stderr: str = ""
    warnings: tuple[str, ...] = ()


AskAgent = Callable[[str, str, Mapping[str, str], Mapping[str, str]], AgentOutput]
"""Runs the agent: ability id, prompt, the ability's variables, the call's variables."""


class Performer:
    def __init__(self, settings: ProgramSettings, ask: AskAgent) -> None:
        self._settings = settings
        self._ask = ask

    def __call__(
        self, ability: Ability, call_input: Mapping[str, Any], call_variables: Mapping[str, str], key: str
    ) -> ProgramResult:
        """`call_variables` override every other variable."""
        how = ability.implementation
        assert how is not None
        values = with_defaults(ability, call_input)
        if isinstance(how, PromptImplementation):
            return self._by_agent(ability, how, values, call_variables, f"{PLACE}/{key}/{OUTPUT}")
        try:
            if isinstance(how, ScriptImplementation):
                words = [placeholders.fill(argument, values) for argument in how.arguments]
                ran, argv = shlex.join((how.path, *words)), self._script(how.path, words)
            else:
                ran, argv = how.function, self._function(ability, how)
        except NotRunnable as error:
            return ProgramResult("", error=str(error))
        return self._run(argv, ran, how, call_input, call_variables)

    def _script(self, path: str, words: Sequence[str]) -> list[str]:
        root, pycache = self._settings.root, self._settings.pycache
        argv = interpreter.command(
            root / path,
            *words,
            path=self._settings.variables["PATH"],
            pycache=pycache,
            cache_dir=self._settings.cache,
        )
        directory = os.path.dirname(os.path.abspath(root / path))
        if directory != str(root):  # which has everything else, too
            keep_uncompiled(directory, pycache)
        return argv

    def _function(self, ability: Ability, how: PythonImplementation) -> list[str]:
        file = file_of(ability, self._settings.root)  # None for an installed module
        if file is not None and not file.is_file():
            raise NotRunnable(f"`{file}` does not exist")
        module, _, name = how.function.rpartition(":")
        options = ("-P", "-X", f"pycache_prefix={self._settings.pycache}", "-c", _START, SAMUEL, NEEDED)
        return [sys.executable, *options, str(file or module), name]

    def _run(
        self,
        argv: list[str],
        ran: str,
        how: ScriptImplementation | PythonImplementation,
        call_input: Mapping[str, Any],
        call_variables: Mapping[str, str],
    ) -> ProgramResult:
        variables, warnings = _resolved(how.env, self._settings.host)
        seconds = SECONDS if how.timeout is None else how.timeout
        finished = spawn.run(
            argv,
            cwd=str(self._settings.root),
            env={**self._settings.variables, **variables, **call_variables},
            stdin=msgspec.json.encode(call_input),
            timeout=seconds,
            output_limit=self._settings.output_limit,
        )
        if finished.ended == "not_started":
            return ProgramResult("", error=finished.why)
        done = ProgramResult(ran, stderr=finished.stderr.decode("utf-8", "replace"), warnings=warnings)
        if finished.ended == "timed_out":
            return done._replace(error=f"killed after {seconds:g}s")
        if finished.ended == "too_much_output":
            limit = f"more than {self._settings.output_limit} bytes of output"
            return done._replace(error=f"{limit}; `handler_output_bytes` under [limits] sets the limit")
        if finished.returncode != 0:
            output_text = done.stderr if done.stderr.strip() else finished.stdout.decode("utf-8", "replace")
            return done._replace(error=ending(finished.returncode, output_text))
        try:
            return done._replace(output=parse(finished.stdout) if finished.stdout.strip() else None)
        except InvalidJson as error:
            return done._replace(error=f"its output is {error}")

    def _by_agent(
        self,
        ability: Ability,
        how: PromptImplementation,
        values: Mapping[str, Any],
        call_variables: Mapping[str, str],
        output: str,
    ) -> ProgramResult:
        answer = self._ask(ability.id, _prompt(ability, how.prompt, values, output), how.env, call_variables)
        result = ProgramResult(f"the agent {answer.agent}", None, answer.error, answer.stderr, answer.warnings)
        if answer.error:
            return result
        if ability.output_schema is None:
            return result._replace(
                output={"response": answer.response, "changed_files": list(answer.changed_files)}
            )
        try:
            return result._replace(output=parse(read_inside(self._settings.root, output, limit=LARGEST)))
        except FileNotFoundError:
            return result._replace(error=f"the agent wrote no result to `{output}`")
        except InvalidJson as error:
            return result._replace(error=f"its output is {error}")
        except (SamuelError, OSError) as error:
            why = error.message if isinstance(error, SamuelError) else error.strerror
            return result._replace(error=f"its output cannot be read: {why}")


def _prompt(ability: Ability, prompt: str, values: Mapping[str, Any], output: str) -> str:
    """The prompt with its values. Values of the input without a placeholder follow as JSON."""
    named = placeholders.names(prompt)
    parts = [placeholders.fill(prompt, values).rstrip("\n")]
    if rest := {name: value for name, value in values.items() if name not in named}:
        parts.append(f"The input:\n\n{indented(rest).decode()}")
    if ability.output_schema is not None:
        parts.append(
            f"When you are done, write the result to the file `{output}`, as JSON that fits this schema:\n\n"
            f"{indented(ability.output_schema).decode()}"
        )
    return "\n\n".join(parts) + "\n"


def _resolved(env: Mapping[str, str], host: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
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
