"""Tokens and cost from real outputs: the versions in `CHECKED`, run against a model server of ours."""

from __future__ import annotations

import pytest

from samuel.agents import claude, codex, gemini
from samuel.agents.agent import UsageParser

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


@pytest.mark.parametrize(
    ("parser", "output", "usage"),
    [
        (
            claude.usage,
            CLAUDE,
            {"input_tokens": 38, "output_tokens": 14, "cached_tokens": 10, "cost_usd": 0.0005025},
        ),
        (codex.usage, CODEX, {"input_tokens": 111, "output_tokens": 8, "cached_tokens": 5}),
        (gemini.usage, GEMINI_STREAM, {"input_tokens": 11, "output_tokens": 7, "cached_tokens": 5}),
        (gemini.usage, GEMINI, {"input_tokens": 15, "output_tokens": 10, "cached_tokens": 5}),
    ],
    ids=["claude", "codex", "gemini stream", "gemini document"],
)
def test_a_client_s_report_is_read(parser: UsageParser, output: bytes, usage: dict[str, float]) -> None:
    assert parser(output.splitlines(keepends=True)) == usage


def test_claude_s_main_conversation_counts_where_there_is_no_list_of_models() -> None:
    line = b'{"type":"result","usage":{"input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3}}'
    assert claude.usage([line]) == {"input_tokens": 3, "output_tokens": 3, "cached_tokens": 2}


@pytest.mark.parametrize("parser", [claude.usage, codex.usage, gemini.usage])
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
        b"\xff\xfe\n",
    ],
)
def test_what_is_not_a_report_gives_nothing(parser: UsageParser, output: bytes) -> None:
    assert parser(output.splitlines(keepends=True)) == {}
