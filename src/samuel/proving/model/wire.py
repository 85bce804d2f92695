"""The scripted model: what it answers, and what the wire formats in which clients ask have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from samuel.clients.adapter.counts import tables
from samuel.files.json import write

MODEL = "samuel-canary"
"""The name of the model, where a client has no opinion of its own."""
INPUT_TOKENS, OUTPUT_TOKENS = 30, 15
"""Every answer reports this usage, so that the sums of a test are known."""

Body = Mapping[str, Any]
"""The JSON object of a request."""


class ToolCall(NamedTuple):
    """The model calls a tool of the client."""

    tool: str
    arguments: Mapping[str, Any]


class FinalText(NamedTuple):
    """The model has nothing more to do."""

    text: str


Step = ToolCall | FinalText
"""What the model answers one time that it is asked."""
DONE = FinalText("Done.")


class ToolResult(NamedTuple):
    """What the client told the model about one of its calls."""

    call_id: str
    """As the client repeats it; "" in a format that has none."""
    text: str


def named_tools(body: Body) -> tuple[str, ...]:
    return tuple(str(tool.get("name") or tool.get("type", "")) for tool in tables(body.get("tools")))


@dataclass(frozen=True)
class WireFormat:
    """One way in which clients and models talk, as pure functions of a request's JSON body."""

    name: str
    path: re.Pattern[str]
    """The path of the requests that it answers, without the query."""
    results: Callable[[Body], Iterable[tuple[object, object]]]
    """The id and the content of each result of a call that the model is told of in this conversation."""
    whole: Callable[[Step, str, str], Body]
    """A step as one JSON object: of the step, the id of its call, and the name of the model."""
    frames: Callable[[Step, str, str], Sequence[Body | str]]
    """The same as server-sent events, for clients that stream. The `type` of one is the name of its event."""
    tools: Callable[[Body], tuple[str, ...]] = named_tools
    """The names of the tools that the client offers to the model."""
    streams: Callable[[str, Body], bool] = lambda path, body: body.get("stream") is True
    """Does the client want server-sent events? By path and body."""

    def tool_results(self, body: Body) -> tuple[ToolResult, ...]:
        """What the model is told about the calls it made in this conversation."""
        return tuple(ToolResult(str(call_id or ""), text_of(content)) for call_id, content in self.results(body))


def encoded(frame: Body | str) -> bytes:
    """One server-sent event."""
    if isinstance(frame, str):
        return f"data: {frame}\n\n".encode()
    name = f"event: {frame['type']}\n".encode() if "type" in frame else b""
    return name + b"data: " + write(frame) + b"\n\n"


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts of which some have a `text`."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in tables(content) if isinstance(part.get("text"), str))
