"""OpenAI's Responses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from samuel.clients.adapter.counts import tables
from samuel.proving.model.wire import INPUT_TOKENS, OUTPUT_TOKENS, Body, Step, ToolCall, WireFormat

_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def _results(body: Body) -> Iterator[tuple[object, object]]:
    for item in tables(body.get("input")):
        if item.get("type") in _OUTPUTS:
            yield item.get("call_id"), item.get("output")


def _item(step: Step, call: str) -> dict[str, Any]:
    if isinstance(step, ToolCall):
        arguments = json.dumps(dict(step.arguments))
        fields = {"id": f"fc_{call}", "call_id": call, "name": step.tool, "arguments": arguments}
        return {"type": "function_call", **fields, "status": "completed"}
    content = [{"type": "output_text", "text": step.text, "annotations": []}]
    return {"type": "message", "id": f"msg_{call}", "role": "assistant", "status": "completed", "content": content}


def _whole(step: Step, call: str, model: str) -> dict[str, Any]:
    return {
        "id": f"resp_{call}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": model,
        "output": [_item(step, call)],
        "usage": {
            "input_tokens": INPUT_TOKENS,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": OUTPUT_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    }


def _frames(step: Step, call: str, model: str) -> list[Body]:
    whole, item = _whole(step, call, model), _item(step, call)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


RESPONSES = WireFormat("responses", re.compile(r"(/v1)?/responses"), _results, _whole, _frames)
