"""OpenAI's Chat Completions, which most other providers speak too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from samuel.clients.adapter.counts import tables
from samuel.proving.model.wire import INPUT_TOKENS, OUTPUT_TOKENS, Body, Step, ToolCall, WireFormat

_USAGE = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}


def _tools(body: Body) -> tuple[str, ...]:
    functions = (tool.get("function") for tool in tables(body.get("tools")))
    return tuple(str(function.get("name", "")) for function in functions if isinstance(function, dict))


def _results(body: Body) -> Iterator[tuple[object, object]]:
    for message in tables(body.get("messages")):
        if message.get("role") == "tool":
            yield message.get("tool_call_id"), message.get("content")


def _message(step: Step, call: str) -> dict[str, Any]:
    if not isinstance(step, ToolCall):
        return {"role": "assistant", "content": step.text}
    function = {"name": step.tool, "arguments": json.dumps(dict(step.arguments))}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"index": 0, "id": call, "type": "function", "function": function}],
    }


def _reason(step: Step) -> str:
    return "tool_calls" if isinstance(step, ToolCall) else "stop"


def _envelope(kind: str, call: str, model: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"chatcmpl-{call}", "object": kind, "created": 1, "model": model, "choices": choices}


def _frames(step: Step, call: str, model: str) -> list[Body | str]:
    kind = "chat.completion.chunk"
    begun = {"index": 0, "delta": _message(step, call), "finish_reason": None}
    ending = {"index": 0, "delta": {}, "finish_reason": _reason(step)}
    return [
        _envelope(kind, call, model, [begun]),
        _envelope(kind, call, model, [ending]),
        {**_envelope(kind, call, model, []), "usage": _USAGE},
        "[DONE]",
    ]


def _whole(step: Step, call: str, model: str) -> Body:
    choice = {"index": 0, "message": _message(step, call), "finish_reason": _reason(step)}
    return {**_envelope("chat.completion", call, model, [choice]), "usage": _USAGE}


CHAT = WireFormat("chat", re.compile(r"(/v1)?/chat/completions"), _results, _whole, _frames, _tools)
