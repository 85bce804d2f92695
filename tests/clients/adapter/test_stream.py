"""What an agent does, in words, from what its client really prints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.clients.streams import STREAMS

from samuel.agents.find_agent import find
from samuel.clients.adapter.agent import Agent
from samuel.clients.adapter.stream import LineSplitter, PlainStream, ReadableLog
from samuel.clients.adapter.tool_words import command_words, tool_words
from samuel.clients.table import AGENTS
from samuel.config import loop as config_loop
from samuel.config.model import AgentSettings


def activity(name: str, *records: dict[str, Any]) -> str:
    stream = STREAMS[name](lambda: 0.0)
    for record in records:
        stream.feed(json.dumps(record).encode())
    return stream.activity


def claude_tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": name, "input": arguments}]}}


@pytest.mark.parametrize(
    ("name", "record", "words"),
    [
        ("claude", claude_tool("Read", file_path="src/app.py"), "reads src/app.py"),
        ("claude", claude_tool("Edit", file_path="x.py", old_string="a"), "edits x.py"),
        ("claude", claude_tool("Bash", command="pytest -q\n  tests", description="run"), "runs pytest -q tests"),
        ("claude", claude_tool("Grep", pattern="TODO"), "searches for TODO"),
        ("claude", claude_tool("mcp__db__query", sql="x"), "uses mcp__db__query"),
        ("claude", claude_tool("Bash", command="echo \x1b[2J"), "runs echo \\x1b[2J"),
        (
            "claude",
            {
                "type": "assistant",
                "message": {"content": [{"type": "text", "text": "First.\nNow the tests.\n\n"}]},
            },
            "Now the tests.",
        ),
        (
            "codex",
            {"type": "item.started", "item": {"type": "command_execution", "command": "/bin/bash -lc 'ls -la'"}},
            "runs ls -la",
        ),
        (
            "codex",
            {
                "type": "item.completed",
                "item": {"type": "file_change", "changes": [{"path": "a.py", "kind": "add"}]},
            },
            "edits a.py",
        ),
        ("codex", {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}, "Done."),
        (
            "gemini",
            {"type": "tool_use", "tool_name": "run_shell_command", "parameters": {"command": "make test"}},
            "runs make test",
        ),
        (
            "copilot",
            {"type": "tool.execution_start", "data": {"toolName": "bash", "arguments": {"command": "ls -la"}}},
            "runs ls -la",
        ),
        ("copilot", {"type": "assistant.message", "data": {"content": "All done."}}, "All done."),
        ("qwen", claude_tool("read_file", absolute_path="/p/a"), "reads /p/a"),
        (
            "opencode",
            {
                "type": "tool_use",
                "part": {"tool": "edit", "state": {"status": "running", "input": {"filePath": "b"}}},
            },
            "edits b",
        ),
        ("opencode", {"type": "text", "part": {"text": "hello"}}, "hello"),
        (
            "cline",
            {
                "type": "agent_event",
                "event": {
                    "type": "content_start",
                    "contentType": "tool",
                    "toolName": "run_commands",
                    "input": {"commands": ["ls", "pwd"]},
                },
            },
            "runs ls",
        ),
        ("pi", {"type": "tool_execution_start", "toolName": "bash", "args": {"command": "ls"}}, "runs ls"),
        (
            "kimi",
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {"type": "function", "function": {"name": "Shell", "arguments": '{"command":"ls"}'}}
                ],
            },
            "runs ls",
        ),
    ],
)
def test_a_record_says_in_words_what_the_agent_does(name: str, record: dict[str, Any], words: str) -> None:
    assert activity(name, record) == words


def test_a_text_that_comes_in_pieces_is_read_as_one() -> None:
    pieces = [
        {"type": "message", "role": "assistant", "content": text, "delta": True} for text in ("Al", "l done.")
    ]
    assert activity("gemini", *pieces) == "All done."


def test_words_are_one_short_line() -> None:
    assert tool_words("Bash", {"command": "x" * 500}) == f"runs {'x' * 94}…"
    assert command_words(["bash", "-c", "ls"]) == "runs ls"
    assert tool_words(None, None) == "uses a tool"


def test_plain_lines_of_any_agent_are_its_activity() -> None:
    for name in STREAMS:
        stream = STREAMS[name](lambda: 0.0)
        stream.feed(b"[scripted] running default\n")
        assert stream.activity == "[scripted] running default"


def test_lines_are_made_of_chunks_and_a_line_without_end_is_left_out() -> None:
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append, longest=10)
    for chunk in (b"ab", b"c\n\nd", b"x" * 1000, b"y\nnext\nla", b"st"):
        splitter.feed(chunk)
    splitter.close()
    assert lines == [b"abc", b"", b"next", b"last"]


def test_a_raw_log_is_readable() -> None:
    log = [
        b"greeting \x1b[31m\n",
        json.dumps({"type": "system", "subtype": "init"}).encode() + b"\n",
        json.dumps(claude_tool("Read", file_path="a.py")).encode() + b"\n",
        json.dumps(
            {"type": "user", "message": {"content": [{"type": "tool_result", "content": "x" * 9}]}}
        ).encode()
        + b"\n",
        b'{"type":"result","is_error":true,"result":"Invalid API key \xc2\xb7 Please run /login"}\n',
    ]
    readable = ReadableLog(AGENTS["claude"].stream)
    chunks = [b"".join(log)[:50], b"".join(log)[50:]]  # a chunk ends anywhere
    assert [line for chunk in chunks for line in readable.feed(chunk)] + readable.close() == [
        "greeting \\x1b[31m",
        "reads a.py",
        "unauthorised: Invalid API key · Please run /login",
    ]


class TestTheReader:
    def test_of_an_agent_in_samuel_toml_is_that_of_its_name(self) -> None:
        def reader(name: str, stream: str = "") -> Any:
            return find(name, {name: AgentSettings(name, ("x",), "stdin", (), stream)}).stream

        assert reader("claude") is AGENTS["claude"].stream
        assert reader("qwen") is STREAMS["qwen"]
        assert reader("mine") is PlainStream
        assert reader("mine", "codex") is STREAMS["codex"]
        assert reader("claude", "plain") is PlainStream

    def test_can_be_named_in_samuel_toml_by_every_name(self) -> None:
        assert set(config_loop.STREAMS) == set(STREAMS)

    def test_of_an_agent_without_one_knows_the_last_line(self) -> None:
        stream = Agent("a", ("x",)).stream(lambda: 0.0)
        stream.feed(b"one\n")
        stream.feed(b"  \n")
        assert (stream.activity, stream.usage, stream.problem) == ("one", {}, None)
