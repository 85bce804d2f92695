"""What the wire formats of models have in common: a request is read, and a step becomes a response."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from samuel.files.json import write
from samuel.proving.model.script import Step, ToolResult

MODEL = "samuel-canary"
"""The name of the model, where a client has no opinion of its own."""
INPUT_TOKENS, OUTPUT_TOKENS = 30, 15
"""Every answer reports this usage, so that the sums of a test are known."""


class Frame(NamedTuple):
    """One server-sent event."""

    data: Mapping[str, Any] | str
    event: str = ""

    def encoded(self) -> bytes:
        data = self.data.encode() if isinstance(self.data, str) else write(self.data)
        name = f"event: {self.event}\n".encode() if self.event else b""
        return name + b"data: " + data + b"\n\n"


@dataclass(frozen=True)
class WireFormat:
    """One way in which clients and models talk, as pure functions of a request's JSON body."""

    name: str
    path: re.Pattern[str]
    """The path of the requests that it answers, without the query."""
    tools: Callable[[Mapping[str, Any]], tuple[str, ...]]
    """The names of the tools that the client offers to the model."""
    results: Callable[[Mapping[str, Any]], tuple[ToolResult, ...]]
    """What the model is told about the calls it made in this conversation."""
    streams: Callable[[str, Mapping[str, Any]], bool]
    """Does the client want server-sent events? By path and body."""
    frames: Callable[[Step, str, str], Sequence[Frame]]
    """The events of a step: of the step, the id of its call, and the name of the model."""
    whole: Callable[[Step, str, str], Mapping[str, Any]]
    """The same as one JSON object, for clients that do not stream."""


def records(value: object) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts of which some have a `text`."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in records(content) if isinstance(part.get("text"), str))


def asks_for_stream(path: str, body: Mapping[str, Any]) -> bool:
    """`"stream": true` in the body, as most formats have it."""
    return body.get("stream") is True
