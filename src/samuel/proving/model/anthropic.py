"""Anthropic's Messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from samuel.clients.adapter.counts import tables
from samuel.proving.model.wire import INPUT_TOKENS, OUTPUT_TOKENS, Body, Step, ToolCall, WireFormat


def _results(body: Body) -> Iterator[tuple[object, object]]:
    for message in tables(body.get("messages")):
        for part in tables(message.get("content")):
            if part.get("type") == "tool_result":
                yield part.get("tool_use_id"), part.get("content")


def _message(step: Step, call: str, model: str) -> dict[str, Any]:
    block = (
        {"type": "tool_use", "id": call, "name": step.tool, "input": dict(step.arguments)}
        if isinstance(step, ToolCall)
        else {"type": "text", "text": step.text}
    )
    return {
        "id": f"msg_{call}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": "tool_use" if isinstance(step, ToolCall) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def _frames(step: Step, call: str, model: str) -> list[Body]:
    message = _message(step, call, model)
    if isinstance(step, ToolCall):
        start = {**message["content"][0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(dict(step.arguments))}
    else:
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step.text}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": message["usage"]},
        {"type": "message_stop"},
    ]


ANTHROPIC = WireFormat("anthropic", re.compile(r"(/v1)?/messages"), _results, _message, _frames)
