"""Google's generateContent and streamGenerateContent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from samuel.files.json import write
from samuel.proving.model.script import Step, ToolCall, ToolResult
from samuel.proving.model.wire import INPUT_TOKENS, OUTPUT_TOKENS, Frame, WireFormat, records


def _tools(body: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        str(function.get("name", ""))
        for tool in records(body.get("tools"))
        for function in records(tool.get("functionDeclarations"))
    )


def _results(body: Mapping[str, Any]) -> tuple[ToolResult, ...]:
    responses = (
        part["functionResponse"]
        for content in records(body.get("contents"))
        for part in records(content.get("parts"))
        if isinstance(part.get("functionResponse"), dict)
    )
    return tuple(ToolResult(str(item.get("id", "")), _response_text(item.get("response"))) for item in responses)


def _response_text(response: object) -> str:
    """The output or the error of a function; whatever else it is, as JSON."""
    if isinstance(response, dict):
        for key in ("output", "error"):
            if isinstance(response.get(key), str):
                return str(response[key])
    return write(response).decode()


def _whole(step: Step, call: str, model: str) -> Mapping[str, Any]:
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


def _frames(step: Step, call: str, model: str) -> Sequence[Frame]:
    return [Frame(_whole(step, call, model))]


def _streams(path: str, body: Mapping[str, Any]) -> bool:
    return path.endswith(":streamGenerateContent")


GEMINI = WireFormat(
    name="gemini",
    path=re.compile(r"/v1(beta|alpha)?/models/[^/]+:(stream)?[gG]enerateContent"),
    tools=_tools,
    results=_results,
    streams=_streams,
    frames=_frames,
    whole=_whole,
)
