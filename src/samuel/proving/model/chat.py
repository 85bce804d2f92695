"""OpenAI's Chat Completions, which most other providers speak too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
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

_USAGE = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}


def _tools(body: Mapping[str, Any]) -> tuple[str, ...]:
    functions = (tool.get("function") for tool in records(body.get("tools")))
    return tuple(str(function.get("name", "")) for function in functions if isinstance(function, dict))


def _results(body: Mapping[str, Any]) -> tuple[ToolResult, ...]:
    return tuple(
        ToolResult(str(message.get("tool_call_id", "")), text_of(message.get("content")))
        for message in records(body.get("messages"))
        if message.get("role") == "tool"
    )


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


def _frames(step: Step, call: str, model: str) -> Sequence[Frame]:
    kind = "chat.completion.chunk"
    begun = {"index": 0, "delta": _message(step, call), "finish_reason": None}
    ending = {"index": 0, "delta": {}, "finish_reason": _reason(step)}
    return [
        Frame(_envelope(kind, call, model, [begun])),
        Frame(_envelope(kind, call, model, [ending])),
        Frame({**_envelope(kind, call, model, []), "usage": _USAGE}),
        Frame("[DONE]"),
    ]


def _whole(step: Step, call: str, model: str) -> Mapping[str, Any]:
    choice = {"index": 0, "message": _message(step, call), "finish_reason": _reason(step)}
    return {**_envelope("chat.completion", call, model, [choice]), "usage": _USAGE}


CHAT = WireFormat(
    name="chat",
    path=re.compile(r"(/v1)?/chat/completions"),
    tools=_tools,
    results=_results,
    streams=asks_for_stream,
    frames=_frames,
    whole=_whole,
)
