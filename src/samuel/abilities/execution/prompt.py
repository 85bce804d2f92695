"""What the agent is told that does the work of an ability, and where it is to put the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.abilities import placeholders
from samuel.abilities.execution.call import indented
from samuel.abilities.model import Ability, PromptImplementation

OUTPUT = "output.json"
"""In the folder of the call. What an agent prints is its program's business, and different for each."""


def told(ability: Ability, prompt: PromptImplementation, given: Mapping[str, Any], output: str) -> str:
    """The prompt with its values. What of the input it does not name follows as JSON."""
    named = placeholders.names(prompt.prompt)
    parts = [placeholders.fill(prompt.prompt, given).rstrip("\n")]
    if rest := {name: value for name, value in given.items() if name not in named}:
        parts.append(f"The input:\n\n{indented(rest).decode()}")
    if ability.output_schema is not None:
        parts.append(
            f"When you are done, write the result to the file `{output}`, as JSON that fits this schema:\n\n"
            f"{indented(ability.output_schema).decode()}"
        )
    return "\n\n".join(parts) + "\n"
