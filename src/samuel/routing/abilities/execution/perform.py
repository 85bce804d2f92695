"""Run the implementation of an ability: a script, a function, or a prompt to an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.base.errors import SamuelError
from samuel.files.inside import read_inside
from samuel.files.json import InvalidJson, parse
from samuel.routing.abilities import placeholders
from samuel.routing.abilities.execution import prompt
from samuel.routing.abilities.execution.call_store import LARGEST, PLACE
from samuel.routing.abilities.execution.check import with_defaults
from samuel.routing.abilities.execution.program import ProgramResult, ProgramSettings, run_function, run_script
from samuel.routing.abilities.execution.trust import file_of
from samuel.routing.abilities.model import (
    Ability,
    PromptImplementation,
    PythonImplementation,
    ScriptImplementation,
)


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
        how = ability.implementation
        if isinstance(how, ScriptImplementation):
            values = with_defaults(ability, call_input)
            words = [placeholders.fill(argument, values) for argument in how.arguments]
            return run_script(how, words, call_input, call_variables, self._settings)
        if isinstance(how, PythonImplementation):
            return run_function(
                how, file_of(ability, self._settings.root), call_input, call_variables, self._settings
            )
        assert how is not None
        return self._by_agent(ability, how, call_input, call_variables, key)

    def _by_agent(
        self,
        ability: Ability,
        how: PromptImplementation,
        call_input: Mapping[str, Any],
        call_variables: Mapping[str, str],
        key: str,
    ) -> ProgramResult:
        output = f"{PLACE}/{key}/{prompt.OUTPUT}"
        text = prompt.agent_prompt(ability, how, with_defaults(ability, call_input), output)
        agent_output = self._ask(ability.id, text, how.env, call_variables)
        result = ProgramResult(
            f"the agent {agent_output.agent}",
            error=agent_output.error,
            stderr=agent_output.stderr,
            warnings=agent_output.warnings,
        )
        if agent_output.error:
            return result
        if ability.output_schema is None:
            answer = {"response": agent_output.response, "changed_files": list(agent_output.changed_files)}
            return result._replace(output=answer)
        try:
            return result._replace(output=parse(read_inside(self._settings.root, output, limit=LARGEST)))
        except FileNotFoundError:
            return result._replace(error=f"the agent wrote no result to `{output}`")
        except InvalidJson as error:
            return result._replace(error=f"its output is {error}")
        except (SamuelError, OSError) as error:
            why = error.message if isinstance(error, SamuelError) else error.strerror
            return result._replace(error=f"its output cannot be read: {why}")
