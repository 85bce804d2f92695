"""The prompt for an ability that an agent carries out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.routing.abilities import placeholders
from samuel.routing.abilities.execution.call import indented
from samuel.routing.abilities.model import Ability, PromptImplementation

OUTPUT = "output.json"
"""The file in the folder of the call for the result, since agents print their output in different formats."""


def agent_prompt(ability: Ability, prompt: PromptImplementation, values: Mapping[str, Any], output: str) -> str:
    """The prompt with its values. Values of the input without a placeholder follow as JSON."""
    named = placeholders.names(prompt.prompt)
    parts = [placeholders.fill(prompt.prompt, values).rstrip("\n")]
    if rest := {name: value for name, value in values.items() if name not in named}:
        parts.append(f"The input:\n\n{indented(rest).decode()}")
    if ability.output_schema is not None:
        parts.append(
            f"When you are done, write the result to the file `{output}`, as JSON that fits this schema:\n\n"
            f"{indented(ability.output_schema).decode()}"
        )
    return "\n\n".join(parts) + "\n"
