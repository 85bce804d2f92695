"""Hooks that were written for an agent: what they read, and what their answers mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from samuel.clients.hook_formats.hook_format import HookFailed, HookOutput, InvalidAnswer
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.clients.table import CLIENTS, HOOK_FORMATS
from samuel.events import event_type
from samuel.events.catalogue import BY_NAME

COMMON = {"session_id": "s1", "project_root": "/p", "event_id": "evt-1"}
SHELL = {**COMMON, "event": "PreAbilityCall", "ability_id": "shell", "tool_input": {"command": "ls"}}
EDIT = {**SHELL, "ability_id": "edit", "tool_input": {"path": "a.py", "old_string": "a", "new_string": "b"}}
MCP = {**SHELL, "ability_id": "mcp:db/query", "tool_input": {"sql": "select 1"}}


def reads(agent: str, client_event: str, payload: dict[str, Any]) -> dict[str, Any]:
    return HOOK_FORMATS[agent].translate_payload(client_event, payload)


def means(
    agent: str, client_event: str, answer: object = "", code: int = 0, stderr: str = "", **fields: Any
) -> Any:
    stdout = answer if isinstance(answer, str) else json.dumps(answer)
    return HOOK_FORMATS[agent].translate_output(
        client_event, {**SHELL, **fields}, HookOutput(code, stdout, stderr)
    )


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": fields}


@pytest.mark.parametrize("agent", HOOK_FORMATS)
def test_every_event_is_one_of_samuels(agent: str) -> None:
    assert set(HOOK_FORMATS[agent].events.values()) <= set(BY_NAME)


@pytest.mark.parametrize("agent", [agent for agent in HOOK_FORMATS if agent in CLIENTS])
def test_tool_names_and_events_agree_with_the_dialect_of_the_same_agent(agent: str) -> None:
    client = CLIENTS[agent]
    for client_event, event in HOOK_FORMATS[agent].events.items():
        assert client.events.get(client_event, event) == event
    for common, names in HOOK_FORMATS[agent].tool_names.items():
        common_names = {client.tools[name].name for name in names if name in client.tools}
        assert common in common_names or not common_names


@pytest.mark.parametrize("agent", HOOK_FORMATS)
def test_reference_page_names_every_event_and_tool(agent: str) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/hook-sources.md").read_text()
    names = [name for tools in HOOK_FORMATS[agent].tool_names.values() for name in tools]
    assert [name for name in (agent, *HOOK_FORMATS[agent].events, *names) if f"`{name}`" not in page] == []


class TestClaudePayload:
    @pytest.mark.parametrize(
        ("payload", "tool"),
        [
            (SHELL, ("Bash", {"command": "ls"})),
            (EDIT, ("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})),
            (MCP, ("mcp__db__query", {"sql": "select 1"})),
            ({**SHELL, "ability_id": "billing.refund"}, ("billing.refund", {"command": "ls"})),
        ],
    )
    def test_tools_have_their_claude_names_and_keys(self, payload, tool) -> None:
        read = reads("claude", "PreToolUse", payload)
        assert (read["tool_name"], read["tool_input"]) == tool
        assert read["tool_use_id"] == "evt-1"

    @pytest.mark.parametrize(
        ("client_event", "payload", "fields"),
        [
            ("UserPromptSubmit", {"user_message": "hi"}, {"prompt": "hi"}),
            ("Stop", {}, {"stop_hook_active": False}),
            ("Stop", {"extra": {"stop_hook_active": True}}, {"stop_hook_active": True}),
            ("SessionStart", {}, {"source": "startup"}),
            ("SessionEnd", {"extra": {"reason": "clear"}}, {"reason": "clear"}),
        ],
    )
    def test_other_events(self, client_event, payload, fields) -> None:
        read = reads("claude", client_event, {**COMMON, **payload})
        assert read.items() >= {**fields, "hook_event_name": client_event, "session_id": "s1", "cwd": "/p"}.items()

    def test_output_of_a_shell_is_an_object(self) -> None:
        post = {**SHELL, "tool_output": "done", "duration_ms": 7}
        read = reads("claude", "PostToolUse", post)
        assert read["tool_response"] == {"stdout": "done", "stderr": "", "interrupted": False}
        assert read["duration_ms"] == 7
        assert reads("claude", "PostToolUse", {**EDIT, "tool_output": {"ok": 1}})["tool_response"] == {"ok": 1}
        assert reads("claude", "PostToolUseFailure", post)["error"] == "done"


# Payloads that Claude Code 2.1.197 sent to a hook, with other ids and paths.
SENT = {"session_id": "c7878f56", "transcript_path": "/home/you/c7878f56.jsonl", "cwd": "/home/you/shop"}
CALL = {
    "permission_mode": "bypassPermissions",
    "tool_name": "Bash",
    "tool_input": {"command": "echo hello > a.txt", "description": "x"},
    "tool_use_id": "toolu_00000131",
}
RESPONSE = {"stdout": "", "stderr": "", "interrupted": False}


@pytest.mark.parametrize(
    "sent",
    [
        {**SENT, **CALL, "hook_event_name": "PreToolUse"},
        {**SENT, **CALL, "hook_event_name": "PostToolUse", "tool_response": RESPONSE, "duration_ms": 180},
        {**SENT, "hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": "go"},
        {**SENT, "hook_event_name": "Stop", "permission_mode": "default", "stop_hook_active": False},
        {**SENT, "hook_event_name": "SessionStart", "permission_mode": "default", "source": "compact"},
        {**SENT, "hook_event_name": "SessionEnd", "reason": "clear"},
        {
            **SENT,
            "hook_event_name": "SubagentStop",
            "stop_hook_active": True,
            "agent_id": "ad4d0508",
            "agent_type": "Explore",
            "agent_transcript_path": "/home/you/ad4d0508.jsonl",
            "last_assistant_message": "Done.",
        },
        {
            **SENT,
            "hook_event_name": "Notification",
            "message": "Claude needs your permission to use Bash",
            "title": "Permission",
            "notification_type": "permission_prompt",
        },
        {**SENT, "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "keep names"},
        {**SENT, "hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": None},
        {
            **SENT,
            "hook_event_name": "ConfigChange",
            "source": "project_settings",
            "file_path": "/home/you/shop/.claude/settings.json",
        },
    ],
    ids=lambda sent: sent["hook_event_name"],
)
def test_hook_reads_the_payload_that_its_agent_would_have_sent(sent: dict[str, Any]) -> None:
    client_event = sent["hook_event_name"]
    context = CLIENTS["claude"].translate(client_event, sent)
    event = event_from_context(event_type(HOOK_FORMATS["claude"].events[client_event]), context)
    read = reads("claude", client_event, msgspec.to_builtins(event))
    # Samuel does not keep where the transcript is, nor the mode of permissions.
    differing = {key for key in read.keys() | sent.keys() if read.get(key) != sent.get(key)}
    assert differing <= {"transcript_path", "permission_mode", "cwd"}


@pytest.mark.parametrize("answer", [{"decision": "block", "reason": "not now"}, ""])
def test_block_denies_or_keeps_the_subagent_going(answer: object) -> None:
    code, stderr = (0, "") if answer else (2, "not now")
    for client_event in ("PreCompact", "ConfigChange"):
        result = means("claude", client_event, answer, code, stderr)
        assert result == {"decision": "deny", "reason": "not now"}
    assert means("claude", "SubagentStop", answer, code, stderr) == {"follow_up_messages": ["not now"]}
    assert means("claude", "Notification", answer, code, stderr) == {"messages_to_user": ["not now"]}


class TestClaudeAnswer:
    @pytest.mark.parametrize("agent", ["claude", "codex"])
    @pytest.mark.parametrize(
        ("client_event", "result"),
        [
            ("PreToolUse", {"decision": "deny", "reason": "no"}),
            ("UserPromptSubmit", {"decision": "deny", "reason": "no"}),
            ("PostToolUse", {"messages_to_user": ["no"]}),
            ("Stop", {"follow_up_messages": ["no"]}),
            ("SessionStart", {"messages_to_user": ["no"]}),
        ],
    )
    def test_exit_code_2_and_decision_block_are_the_same(self, agent, client_event, result) -> None:
        assert means(agent, client_event, code=2, stderr="no\n") == result
        assert means(agent, client_event, {"decision": "block", "reason": "no"}) == result

    @pytest.mark.parametrize(
        ("answer", "result"),
        [
            ("", {}),
            ("plain text is for the transcript", {}),
            ({}, {}),
            (specific(permissionDecision="allow"), {"decision": "allow"}),
            (specific(permissionDecision="defer"), {"decision": "ask"}),
            (specific(permissionDecision="ask", permissionDecisionReason="?"), {"decision": "ask", "reason": "?"}),
            (
                specific(permissionDecision="deny", permissionDecisionReason="x"),
                {"decision": "deny", "reason": "x"},
            ),
            (specific(permissionDecision="deny", updatedInput={"command": "x"}), {"decision": "deny"}),
            (specific(updatedInput={"command": "x"}), {"tool_input": {"command": "x"}}),
            (specific(additionalContext="c"), {"messages_to_user": ["c"]}),
            ({"systemMessage": "s"}, {"messages_to_user": ["s"]}),
            ({"decision": "approve"}, {"decision": "allow"}),
            ({"continue": False, "stopReason": "enough"}, {"decision": "deny", "reason": "enough"}),
            ({"continue": True}, {}),
        ],
    )
    def test_answers_of_pretooluse(self, answer, result) -> None:
        assert means("claude", "PreToolUse", answer) == result

    def test_rewritten_path_has_samuels_key(self) -> None:
        rewrite = specific(updatedInput={"file_path": "b.py", "old_string": "a"})
        result = means("claude", "PreToolUse", rewrite, ability_id="edit")
        assert result == {"tool_input": {"path": "b.py", "old_string": "a"}}

    def test_plain_text_is_context_where_the_format_says_so(self) -> None:
        assert means("claude", "UserPromptSubmit", "read CONTRIBUTING.md\n") == {
            "messages_to_user": ["read CONTRIBUTING.md"]
        }

    def test_continue_false_at_a_stop_lets_it_stop(self) -> None:
        assert means("claude", "Stop", {"continue": False, "stopReason": "enough"}) == {}

    @pytest.mark.parametrize("answer", ['{"decision": ', {"decision": "perhaps"}, specific(permissionDecision=1)])
    def test_answer_that_is_not_one_is_a_fault(self, answer) -> None:
        with pytest.raises(InvalidAnswer):
            means("claude", "PreToolUse", answer)

    @pytest.mark.parametrize("agent", HOOK_FORMATS)
    @pytest.mark.parametrize("code", [1, 127, -9])
    def test_any_other_exit_code_is_a_fault_and_no_verdict(self, agent, code) -> None:
        with pytest.raises(HookFailed):
            means(agent, next(iter(HOOK_FORMATS[agent].events)), code=code, stderr="no")


class TestCursor:
    @pytest.mark.parametrize(
        ("client_event", "payload", "fields"),
        [
            ("beforeShellExecution", SHELL, {"command": "ls", "cwd": "/p"}),
            ("beforeMCPExecution", MCP, {"tool_name": "query", "tool_input": '{"sql":"select 1"}'}),
            ("preToolUse", EDIT, {"tool_name": "Write", "tool_use_id": "evt-1"}),
            ("preToolUse", MCP, {"tool_name": "MCP:query", "tool_input": {"sql": "select 1"}}),
            (
                "afterShellExecution",
                {**SHELL, "tool_output": "x", "duration_ms": 3},
                {"output": "x", "duration": 3},
            ),
            ("afterFileEdit", EDIT, {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}]}),
            ("beforeSubmitPrompt", {**COMMON, "user_message": "hi"}, {"prompt": "hi", "attachments": []}),
            ("afterAgentResponse", {**COMMON, "response": "ok"}, {"text": "ok"}),
            ("stop", COMMON, {"status": "completed", "loop_count": 0}),
        ],
    )
    def test_payloads(self, client_event, payload, fields) -> None:
        read = reads("cursor", client_event, payload)
        base = {"hook_event_name": client_event, "conversation_id": "s1", "workspace_roots": ["/p"]}
        assert {key: read[key] for key in (*base, *fields)} == {**base, **fields}

    @pytest.mark.parametrize(
        ("client_event", "answer", "result"),
        [
            ("beforeShellExecution", {"permission": "allow"}, {"decision": "allow"}),
            (
                "beforeShellExecution",
                {"permission": "ask", "user_message": "?"},
                {"decision": "ask", "reason": "?"},
            ),
            (
                "beforeShellExecution",
                {"permission": "deny", "agent_message": "use make", "user_message": "blocked"},
                {"decision": "deny", "reason": "use make", "messages_to_user": ["blocked"]},
            ),
            ("preToolUse", {"updated_input": {"command": "x"}}, {"tool_input": {"command": "x"}}),
            (
                "beforeSubmitPrompt",
                {"continue": False, "user_message": "no"},
                {"decision": "deny", "reason": "no"},
            ),
            ("beforeSubmitPrompt", {"continue": True}, {}),
            ("stop", {"followup_message": "go on"}, {"follow_up_messages": ["go on"]}),
            ("sessionStart", {"additional_context": "c"}, {"messages_to_user": ["c"]}),
        ],
    )
    def test_answers(self, client_event, answer, result) -> None:
        assert means("cursor", client_event, answer) == result

    def test_exit_code_2_denies(self) -> None:
        assert means("cursor", "preToolUse", code=2, stderr="no") == {"decision": "deny", "reason": "no"}

    @pytest.mark.parametrize("answer", ["[1]", "text", {"permission": "maybe"}])
    def test_answer_that_is_not_one_is_a_fault(self, answer) -> None:
        with pytest.raises(InvalidAnswer):
            means("cursor", "preToolUse", answer)
