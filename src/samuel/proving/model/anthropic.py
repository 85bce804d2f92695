"""Anthropic's Messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from samuel.proving.model.script import Step, ToolCall, ToolResult
from samuel.proving.model.wire import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Frame,
    WireFormat,
    asks_for_stream,
    records,
    text_of,
)


def _tools(body: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(tool.get("name", "")) for tool in records(body.get("tools")))


def _results(body: Mapping[str, Any]) -> tuple[ToolResult, ...]:
    return tuple(
        ToolResult(str(part.get("tool_use_id", "")), text_of(part.get("content")))
        for message in records(body.get("messages"))
        for part in records(message.get("content"))
        if part.get("type") == "tool_result"
    )


def _block(step: Step, call: str) -> dict[str, Any]:
    if isinstance(step, ToolCall):
        return {"type": "tool_use", "id": call, "name": step.tool, "input": dict(step.arguments)}
    return {"type": "text", "text": step.text}


def _message(step: Step, call: str, model: str) -> dict[str, Any]:
    return {
        "id": f"msg_{call}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_block(step, call)],
        "stop_reason": "tool_use" if isinstance(step, ToolCall) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def _frames(step: Step, call: str, model: str) -> Sequence[Frame]:
    def events() -> Iterator[dict[str, Any]]:
        message = _message(step, call, model)
        ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
        if isinstance(step, ToolCall):
            start = {**_block(step, call), "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(dict(step.arguments))}
        else:
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": step.text}
        yield {"type": "content_block_start", "index": 0, "content_block": start}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
        yield {"type": "message_stop"}

    return [Frame(event, event["type"]) for event in events()]


ANTHROPIC = WireFormat(
    name="anthropic",
    path=re.compile(r"(/v1)?/messages"),
    tools=_tools,
    results=_results,
    streams=asks_for_stream,
    frames=_frames,
    whole=_message,
)
