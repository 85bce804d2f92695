"""From an ability to what runs: a script, a function, or an agent that is told what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.abilities import placeholders
from samuel.abilities.execution import prompt
from samuel.abilities.execution.call_store import LARGEST, PLACE
from samuel.abilities.execution.check import with_defaults
from samuel.abilities.execution.program import ProgramResult, ProgramSettings, run_function, run_script
from samuel.abilities.execution.trust import file_of
from samuel.abilities.model import Ability, PromptImplementation, PythonImplementation, ScriptImplementation
from samuel.errors import SamuelError
from samuel.files.inside import read_inside
from samuel.files.json import InvalidJson, parse


class AgentOutput(NamedTuple):
    """What an agent did."""

    agent: str
    response: str = ""
    """The end of what it said."""
    changed_files: tuple[str, ...] = ()
    error: str = ""
    stderr: str = ""
    warnings: tuple[str, ...] = ()


AskAgent = Callable[[str, str, Mapping[str, str], Mapping[str, str]], AgentOutput]
"""For the ability of this id, tells the agent a prompt, with the ability's variables and the call's own."""


class Performer:
    def __init__(self, machine: ProgramSettings, ask: AskAgent) -> None:
        self._machine = machine
        self._ask = ask

    def __call__(
        self, ability: Ability, given: Mapping[str, Any], own: Mapping[str, str], key: str
    ) -> ProgramResult:
        how = ability.implementation
        if isinstance(how, ScriptImplementation):
            values = with_defaults(ability, given)
            words = [placeholders.fill(argument, values) for argument in how.arguments]
            return run_script(how, words, given, own, self._machine)
        if isinstance(how, PythonImplementation):
            return run_function(how, file_of(ability, self._machine.root), given, own, self._machine)
        assert how is not None
        return self._by_agent(ability, how, given, own, key)

    def _by_agent(
        self,
        ability: Ability,
        how: PromptImplementation,
        given: Mapping[str, Any],
        own: Mapping[str, str],
        key: str,
    ) -> ProgramResult:
        output = f"{PLACE}/{key}/{prompt.OUTPUT}"
        text = prompt.told(ability, how, with_defaults(ability, given), output)
        said = self._ask(ability.id, text, how.env, own)
        done = ProgramResult(
            f"the agent {said.agent}", error=said.error, stderr=said.stderr, warnings=said.warnings
        )
        if said.error:
            return done
        if ability.output_schema is None:
            answer = {"response": said.response, "changed_files": list(said.changed_files)}
            return done._replace(output=answer)
        try:
            return done._replace(output=parse(read_inside(self._machine.root, output, limit=LARGEST)))
        except FileNotFoundError:
            return done._replace(error=f"the agent wrote no result to `{output}`")
        except InvalidJson as error:
            return done._replace(error=f"its output is {error}")
        except (SamuelError, OSError) as error:
            why = error.message if isinstance(error, SamuelError) else error.strerror
            return done._replace(error=f"its output cannot be read: {why}")
