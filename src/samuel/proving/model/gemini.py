"""Google's generateContent and streamGenerateContent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from samuel.clients.adapter.counts import tables
from samuel.files.json import write
from samuel.proving.model.wire import INPUT_TOKENS, OUTPUT_TOKENS, Body, Step, ToolCall, WireFormat


def _tools(body: Body) -> tuple[str, ...]:
    return tuple(
        str(function.get("name", ""))
        for tool in tables(body.get("tools"))
        for function in tables(tool.get("functionDeclarations"))
    )


def _results(body: Body) -> Iterator[tuple[object, object]]:
    for content in tables(body.get("contents")):
        for part in tables(content.get("parts")):
            if isinstance(item := part.get("functionResponse"), dict):
                yield item.get("id"), _response_text(item.get("response"))


def _response_text(response: object) -> str:
    """The output or the error of a function; whatever else it is, as JSON."""
    if isinstance(response, dict):
        for key in ("output", "error"):
            if isinstance(response.get(key), str):
                return str(response[key])
    return write(response).decode()


def _whole(step: Step, call: str, model: str) -> Body:
    if isinstance(step, ToolCall):
        part: dict[str, Any] = {"functionCall": {"id": call, "name": step.tool, "args": dict(step.arguments)}}
    else:
        part = {"text": step.text}
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": INPUT_TOKENS,
            "candidatesTokenCount": OUTPUT_TOKENS,
            "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
        },
        "modelVersion": model,
        "responseId": f"resp_{call}",
    }


GEMINI = WireFormat(
    name="gemini",
    path=re.compile(r"/v1(beta|alpha)?/models/[^/]+:(stream)?[gG]enerateContent"),
    results=_results,
    whole=_whole,
    frames=lambda step, call, model: [_whole(step, call, model)],
    tools=_tools,
    streams=lambda path, body: path.endswith(":streamGenerateContent"),
)
