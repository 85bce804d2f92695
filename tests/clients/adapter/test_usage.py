"""Tokens and cost from real outputs: of the versions that were checked, run against a model server of ours.

Those of opencode, cline, pi and qwen are as these programs' own sources and documents have them.
"""

from __future__ import annotations

import pytest
from tests.clients.streams import PLAIN, STREAMS

from samuel.clients.adapter.stream import AgentUsage

CLAUDE = b"""{"type":"system","subtype":"init","cwd":"/p","model":"claude-opus-4-8"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":11}}}
not json, but it says "result"
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"hello","total_cost_usd":0.0005025,\
"usage":{"input_tokens":11,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":7},\
"modelUsage":{"claude-opus-4-8":{"inputTokens":22,"outputTokens":14,"cacheReadInputTokens":10,\
"cacheCreationInputTokens":6,"costUSD":0.0005025}}}
"""
CODEX = b"""{"type":"thread.started","thread_id":"01a1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"\\"turn.completed\\""}}
{"type":"turn.completed","usage":{"input_tokens":11,"cached_input_tokens":5,"output_tokens":7,"reasoning_output_tokens":2}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":1}}
"""
GEMINI_STREAM = b"""{"type":"init","session_id":"d294","model":"gemini-2.5-flash"}
{"type":"message","role":"assistant","content":"hello","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":18,"input_tokens":11,"output_tokens":7,"cached":5,"input":6}}
"""
GEMINI = b"""YOLO mode is enabled. All tool calls will be automatically approved.
{
  "session_id": "744f",
  "response": "hello",
  "stats": {
    "models": {
      "flash-lite": {"tokens": {"prompt": 4, "candidates": 1, "cached": 0, "thoughts": 2}},
      "pro": {"tokens": {"input": 6, "prompt": 11, "candidates": 7, "total": 18, "cached": 5, "thoughts": 0}}
    }
  }
}"""
COPILOT = b"""{"type":"assistant.message","data":{"content":"All done.","toolRequests":[],"turnId":"1"}}
{"type":"result","exitCode":0,"usage":{"premiumRequests":0,"totalApiDurationMs":30,"sessionDurationMs":519}}
{"totalUserRequests": 1, "modelMetrics": {"gpt-5": {"requests": {"count": 2, "cost": 0}, "usage": \
{"inputTokens": 60, "outputTokens": 30, "cacheReadTokens": 20, "cacheWriteTokens": 0}}}}
"""
QWEN = b"""[{"type":"system","subtype":"init"},{"type":"result","is_error":false,"result":"hi",\
"usage":{"input_tokens":30,"output_tokens":15,"cache_read_input_tokens":0,"total_tokens":45}}]
"""
OPENCODE = b"""{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}
{"type":"step_finish","part":{"type":"step-finish","reason":"tool-calls","cost":0.002,\
"tokens":{"total":7065,"input":1662,"output":8,"reasoning":15,"cache":{"write":2,"read":5380}}}}
{"type":"step_finish","part":{"type":"step-finish","reason":"stop","cost":0.001,\
"tokens":{"input":10,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}}
"""
CLINE = b"""{"type":"agent_event","event":{"type":"usage","inputTokens":5,"outputTokens":1,"totalInputTokens":9,\
"totalOutputTokens":2,"totalCost":0.01}}
{"type":"run_result","finishReason":"completed","iterations":2,"usage":{"inputTokens":30,"outputTokens":15,\
"cacheReadTokens":10,"cacheWriteTokens":0,"totalCost":0.02},"text":"done"}
"""
PI = b"""{"type":"message_end","message":{"role":"user","content":"go","usage":{"input":99}}}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"toolUse",\
"usage":{"input":20,"output":5,"cacheRead":8,"cacheWrite":2,"totalTokens":35,"cost":{"total":0.25}}}}
{"type":"turn_end","message":{"role":"assistant","usage":{"input":20,"output":5,"cost":{"total":0.25}}}}
{"type":"message_end","message":{"role":"assistant","stopReason":"stop",\
"usage":{"input":1,"output":1,"cost":{"total":0.25}}}}
"""
SCRIPTED = b"""[scripted] done
{"type": "result", "total_cost_usd": 0.25, "usage": {"input_tokens": 100, "output_tokens": 20}}
"""


def usage(name: str, output: bytes) -> AgentUsage:
    stream = STREAMS[name](lambda: 0.0)
    for line in output.splitlines():
        stream.feed(line)
    return stream.usage


@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [
        ("claude", CLAUDE, {"input_tokens": 38, "output_tokens": 14, "cached_tokens": 10, "cost_usd": 0.0005025}),
        ("codex", CODEX, {"input_tokens": 111, "output_tokens": 8, "cached_tokens": 5}),
        ("gemini", GEMINI_STREAM, {"input_tokens": 11, "output_tokens": 7, "cached_tokens": 5}),
        ("gemini", GEMINI, {"input_tokens": 15, "output_tokens": 10, "cached_tokens": 5}),
        ("copilot", COPILOT, {"input_tokens": 60, "output_tokens": 30, "cached_tokens": 20}),
        ("qwen", QWEN, {"input_tokens": 30, "output_tokens": 15}),
        (
            "opencode",
            OPENCODE,
            {"input_tokens": 7054, "output_tokens": 24, "cached_tokens": 5380, "cost_usd": 0.003},
        ),
        ("cline", CLINE, {"input_tokens": 30, "output_tokens": 15, "cached_tokens": 10, "cost_usd": 0.02}),
        ("pi", PI, {"input_tokens": 31, "output_tokens": 6, "cached_tokens": 8, "cost_usd": 0.5}),
        ("scripted", SCRIPTED, {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.25}),
    ],
)
def test_a_client_s_report_is_read(name: str, output: bytes, expected: dict[str, float]) -> None:
    assert usage(name, output) == pytest.approx(expected)


def test_claude_s_main_conversation_counts_where_there_is_no_list_of_models() -> None:
    line = b'{"type":"result","usage":{"input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3}}'
    assert usage("claude", line) == {"input_tokens": 3, "output_tokens": 3, "cached_tokens": 2}


def test_claude_s_messages_are_counted_once_each_before_the_result_comes() -> None:
    message = (
        b'{"type":"assistant","message":{"id":"%s","content":[],"usage":{"input_tokens":10,"output_tokens":%d}}}\n'
    )
    live = message % (b"msg_1", 1) + message % (b"msg_1", 4) + message % (b"msg_2", 2)
    assert usage("claude", live) == {"input_tokens": 20, "output_tokens": 6}
    result = b'{"type":"result","usage":{"input_tokens":50,"output_tokens":9}}\n'
    assert usage("claude", live + result) == {"input_tokens": 50, "output_tokens": 9}
    assert usage("claude", live + result + message % (b"msg_3", 1)) == {"input_tokens": 60, "output_tokens": 10}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"just text\n",
        b"{\n",
        b'{"type":"result"}\n{"type":"turn.completed"}\n',
        b'{"type":"result","usage":[1],"stats":"x","modelUsage":7,"total_cost_usd":true}\n',
        b'{"type":"turn.completed","usage":{"input_tokens":"many","output_tokens":-1}}\n',
        b'{"type":"result","stats":{"input_tokens":true}}\n',
        b'["result"]\n"result"\n{"type":"result"' + b"[" * 100_000 + b"\n",
        b'{"type":"assistant","message":{"usage":null,"content":[3,{"type":"tool_use","input":[]}]}}\n',
        b'{"type":"assistant","message":[],"error":7}\n{"type":"rate_limit_event","rate_limit_info":3}\n',
        b'{"type":"error","error":[],"message":{}}\n{"type":"turn.failed","error":"x"}\n{"type":"session.error"}\n',
        b'{"type":"agent_event","event":[]}\n{"type":"run_result"}\n{"role":"assistant","tool_calls":[{}]}\n',
        b'{"type":"step_finish","part":{"tokens":{"input":1e400}}}\n{"type":"item.completed","item":[]}\n',
        b"\xff\xfe\n",
    ],
)
def test_what_is_not_a_report_gives_nothing(name: str, output: bytes) -> None:
    assert usage(name, output) == {}


def test_plain_text_has_no_usage_though_it_looks_like_a_report() -> None:
    assert usage(PLAIN, CLAUDE) == {}
