"""What a scripted model answers: one step for each time it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class ToolCall(NamedTuple):
    """The model calls a tool of the client."""

    tool: str
    arguments: Mapping[str, Any]


class FinalText(NamedTuple):
    """The model has nothing more to do."""

    text: str


Step = ToolCall | FinalText
DONE = FinalText("Done.")


class ToolResult(NamedTuple):
    """What the client told the model about one of its calls."""

    call_id: str
    """As the client repeats it; "" in a format that has none."""
    text: str


def step_after(steps: Sequence[Step], results: int) -> Step:
    """The step that follows this number of tool results; after the last one, the model is done."""
    return steps[results] if results < len(steps) else DONE


def call_id(results: int) -> str:
    """The id of the call that follows this number of tool results."""
    return f"call_{results + 1}"
