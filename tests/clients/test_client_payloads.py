"""Payloads of real clients, as their hooks got them, become events of Samuel's."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from samuel.base.errors import UsageError
from samuel.clients.dialect.events import DENIABLE, END, INSIDE_AGENT, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.protocol import PayloadError
from samuel.clients.dialect.tools import common_input, common_name, native_input
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.clients.table import CLIENTS, client
from samuel.events import event_type, names
from samuel.events.names import SESSION

from .client_reading import capture, captured, client_events

REWRITE_ME, REWRITTEN = "echo REWRITE-ME > orig.txt", "echo REWRITTEN-BY-SAMUEL > rw.txt"

# Client and event -> some fields of the context.
CALLS: dict[tuple[str, str], dict[str, Any]] = {
    ("claude", "PreToolUse"): {"tool_name": "Bash", "call_id": "toolu_00000131", "command": REWRITE_ME},
    ("codex", "PreToolUse"): {"tool_name": "Bash", "call_id": "call_113", "command": REWRITE_ME},
    ("gemini", "BeforeTool"): {"tool_name": "run_shell_command", "command": REWRITE_ME},
    ("qwen", "PreToolUse"): {"tool_name": "run_shell_command", "call_id": "call_158", "command": REWRITE_ME},
    ("copilot", "preToolUse"): {"tool_name": "bash", "command": REWRITE_ME},
    ("kimi", "PreToolUse"): {"tool_name": "Bash", "call_id": "call_240", "command": REWRITE_ME},
    ("opencode", "tool.execute.before"): {"tool_name": "bash", "call_id": "call_223", "command": REWRITE_ME},
    ("cline", "PreToolUse"): {"tool_name": "run_commands", "call_id": "call_367", "command": "rm -rf victim"},
    ("cursor", "preToolUse"): {"tool_name": "Shell", "call_id": "call_1", "command": "rm -rf victim"},
    ("cursor", "beforeShellExecution"): {"tool_name": "Shell", "command": "rm -rf victim"},
    ("kiro", "PreToolUse"): {"tool_name": "execute_bash", "command": "rm -rf victim"},
    ("kiro", "PostToolUse"): {"status": "success", "command": "ls"},
    ("grok", "PreToolUse"): {"tool_name": "run_terminal_command", "call_id": "call_6", "command": "exit 3"},
    ("grok", "PostToolUse"): {"status": "failure", "tool_output": "exit: 3\n", "command": "exit 3"},
    ("agy", "PreToolUse"): {"tool_name": "run_command", "call_id": "4", "command": "rm -rf victim"},
    ("claude", "PostToolUse"): {"status": "success", "duration_ms": 180, "tool_output": "", "command": REWRITTEN},
    ("codex", "PostToolUse"): {"status": "success", "tool_output": "", "command": REWRITTEN},
    ("gemini", "AfterTool"): {"status": "success", "command": REWRITTEN},
    ("qwen", "PostToolUse"): {"status": "success", "duration_ms": 398, "command": REWRITE_ME},
    ("copilot", "postToolUse"): {"status": "success", "command": REWRITTEN},
    ("opencode", "tool.execute.after"): {"status": "success", "tool_output": "(no output)", "command": REWRITTEN},
    ("cursor", "postToolUse"): {"status": "success", "duration_ms": 150, "command": "ls"},
    ("cursor", "postToolUseFailure"): {"status": "failure", "duration_ms": 5000, "command": "npm test"},
    ("cursor", "afterShellExecution"): {"status": "success", "tool_output": "a.txt", "command": "ls"},
    ("agy", "PostToolUse"): {"status": "success", "command": "ls"},
}


def context_of(name: str, native_event: str, payload: dict[str, Any] | None = None) -> dict[str, Any]:
    return client(name).translate(native_event, capture(name, native_event) if payload is None else payload)


def test_the_names_of_events_are_samuels() -> None:
    assert {START, PROMPT, PRE, POST, STOP, END, *INSIDE_AGENT} <= set(SESSION)
    assert INSIDE_AGENT == names.INSIDE_AGENT
    assert set(DENIABLE) == {name for name in SESSION if event_type(name).composition.can_deny}
    assert {event for each in CLIENTS.values() for event in each.events.values()} <= set(SESSION)
    assert names.TURN_END == "TurnEnd"


@pytest.mark.parametrize(("name", "native_event"), captured())
def test_a_captured_payload_is_an_event(name: str, native_event: str) -> None:
    context = context_of(name, native_event)
    if (name, native_event) == ("qwen", "UserPromptSubmit"):
        assert context == {}  # it fires again after each result of a tool, with an empty prompt
        return
    event = event_from_context(event_type(client(name).events[native_event]), context)
    assert event.extra is not UNSET
    assert event.extra["client"] == name
    assert event.extra["client_event"] == native_event
    assert event.session_id is not UNSET


@pytest.mark.parametrize(("name", "native_event"), list(CALLS))
def test_a_captured_call_has_the_common_names(name: str, native_event: str) -> None:
    context = context_of(name, native_event)
    command, expected = CALLS[name, native_event]["command"], dict(CALLS[name, native_event])
    del expected["command"]
    assert context["ability_id"] == "shell"
    assert context["tool_input"]["command"] == command
    assert {key: context[key] for key in expected} == expected


@pytest.mark.parametrize(("name", "native_event"), client_events(PROMPT))
def test_a_prompt_is_its_text(name: str, native_event: str) -> None:
    payloads: dict[str, dict[str, Any]] = {
        "qwen": {**capture("qwen", "UserPromptSubmit"), "prompt": "do-it"},
        "cline": {"userPromptSubmit": {"prompt": "do-it", "attachments": []}},
    }
    payload = payloads.get(name) or capture(name, native_event)
    assert context_of(name, native_event, payload)["user_message"] == "do-it"


FAILURES: list[tuple[str, str, dict[str, Any], str]] = [
    ("claude", "PostToolUseFailure", {"error": "exit code 1"}, "failure"),
    ("claude", "PostToolUse", {"tool_response": {"stdout": "x", "stderr": "", "interrupted": True}}, "failure"),
    ("gemini", "AfterTool", {"tool_response": {"llmContent": "Output: x\nExit Code: 2"}}, "failure"),
    ("gemini", "AfterTool", {"tool_response": {"llmContent": "x", "error": {"message": "no"}}}, "failure"),
    ("qwen", "PostToolUse", {"tool_response": {"llmContent": "Output: x\nExit Code: 1\n"}}, "failure"),
    ("qwen", "PostToolUseFailure", {"error": "no"}, "failure"),
    ("copilot", "postToolUseFailure", {"error": "no"}, "failure"),
    (
        "copilot",
        "postToolUse",
        {"toolResult": {"resultType": "success", "textResultForLlm": "<shellId: 0 completed with exit code 7>"}},
        "failure",
    ),
    ("copilot", "postToolUse", {"toolResult": {"resultType": "denied", "textResultForLlm": ""}}, "skipped"),
    ("kimi", "PostToolUseFailure", {"error": {"message": "no"}}, "failure"),
    ("kimi", "PostToolUse", {"tool_output": "fine"}, "success"),
    ("opencode", "tool.execute.after", {"output": {"metadata": {"exit": 3}, "output": "x"}}, "failure"),
    ("opencode", "tool.execute.after", {"output": {"metadata": {"exit": None}, "output": "x"}}, "failure"),
    ("cursor", "postToolUseFailure", {"failure_type": "permission_denied"}, "skipped"),
    ("agy", "PostToolUse", {"error": "no"}, "failure"),
]
SAME_FIELDS = {"PostToolUseFailure": "PreToolUse", "postToolUseFailure": "preToolUse", "PostToolUse": "PreToolUse"}


@pytest.mark.parametrize(("name", "native_event", "fields", "status"), FAILURES)
def test_the_status_of_a_call_is_the_real_one(
    name: str, native_event: str, fields: dict[str, Any], status: str
) -> None:
    recorded = (name, native_event) in captured()
    payload = capture(name, native_event if recorded else SAME_FIELDS[native_event])
    payload.pop("hook_event_name", None)
    assert context_of(name, native_event, {**payload, **fields})["status"] == status


def test_cline_tells_of_a_result_under_a_name_of_its_own() -> None:
    call = {"id": "c1", "name": "run_commands", "input": {"commands": ["a", "b"]}, "output": "x", "durationMs": 5}
    payload = {"taskId": "t", "tool_result": {**call, "error": "no"}, "postToolUse": {"success": False}}
    context = context_of("cline", "PostToolUse", payload)
    assert (context["status"], context["tool_output"], context["duration_ms"]) == ("failure", "no", 5)
    assert context["tool_input"] == {"command": "a\nb"}


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("status", ["success", "failure"])
def test_a_command_of_cline_fails_though_its_call_does_not(status: str, as_text: bool) -> None:
    commands = [
        {"query": "true", "result": "", "success": True},
        {"query": "exit 3", "result": "[Command exited with code 3]", "success": status == "success"},
    ]
    output = json.dumps(commands) if as_text else commands
    call = {"id": "c1", "name": "run_commands", "input": {"commands": ["true", "exit 3"]}, "output": output}
    context = context_of("cline", "PostToolUse", {"tool_result": call, "postToolUse": {"success": True}})
    assert (context["status"], context["tool_output"]) == (status, output)


def test_opencode_tells_events_of_sessions_under_one_name() -> None:
    opencode, payload = client("opencode"), capture("opencode", "session.created")
    assert opencode.event_of("event", payload) == "session.created"
    assert opencode.event_of("event", {"input": {"event": payload["input"]}}) == "session.created"
    assert opencode.event_of("event", {"input": {"type": "lsp.updated"}}) not in opencode.events
    assert opencode.event_of("chat.message", {}) == "chat.message"


@pytest.mark.parametrize(
    ("name", "tool_name", "common"),
    [
        ("claude", "mcp__db__run_query", "mcp:db/run_query"),
        ("gemini", "mcp_db_run_query", "mcp:db/run_query"),
        ("copilot", "github-mcp-server-list_issues", "mcp:github-mcp-server/list_issues"),
        ("opencode", "db_run_query", "mcp:db/run_query"),
        ("cline", "db__run_query", "mcp:db/run_query"),
        ("cursor", "MCP:run_query", "mcp:unknown/run_query"),
        ("claude", "TodoWrite", "TodoWrite"),
        ("claude", "mcp__db", "mcp__db"),
        ("opencode", "plan_exit", "plan_exit"),
    ],
)
def test_a_tool_of_an_mcp_server_has_a_common_name(name: str, tool_name: str, common: str) -> None:
    assert common_name(client(name).tools, tool_name, client(name).mcp) == common


def test_gemini_names_the_server_of_an_mcp_tool() -> None:
    payload = {**capture("gemini", "BeforeTool"), "tool_name": "mcp_my_db_query", "tool_input": {}}
    payload["mcp_context"] = {"server_name": "my_db", "tool_name": "query"}
    assert context_of("gemini", "BeforeTool", payload)["ability_id"] == "mcp:my_db/query"


def test_cursor_has_the_input_of_an_mcp_tool_as_text() -> None:
    context = context_of("cursor", "beforeMCPExecution")
    assert context["ability_id"] == "mcp:db-server/query"
    assert context["tool_input"] == {"sql": "select 1"}


@pytest.mark.parametrize("name", list(CLIENTS))
def test_an_input_goes_back_to_the_clients_own_keys(name: str) -> None:
    for tool_name, tool in client(name).tools.items():
        value: Any = ["a", "b"] if "commands" in tool.keys.values() else "a"
        own = {**dict.fromkeys(tool.keys.values(), value), "more": 1}
        back = native_input(client(name).tools, tool_name, common_input(client(name).tools, tool_name, own))
        assert back == ({**own, "commands": ["a\nb"]} if "commands" in own else own)


def test_a_key_that_the_tool_does_not_read_cannot_hide_the_one_it_does() -> None:
    tool_input = {"path": "notes.txt", "file_path": "/etc/passwd"}
    assert common_input(client("claude").tools, "Read", tool_input)["path"] == "/etc/passwd"
    assert (
        common_input(client("claude").tools, "Read", dict(reversed(tool_input.items())))["path"] == "/etc/passwd"
    )


def test_an_unknown_client_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean `claude`"):
        client("claud")
    with pytest.raises(UsageError, match="it must be one of `claude`, "):
        client("emacs")


# Damage


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places in a payload that have a value of their own."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in leaves(inner, (*path, key))] or [path]


def damaged(payload: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed: Any = copy.deepcopy(payload)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return dict(changed)


DENIABLE_CAPTURES = [
    (name, native_event)
    for name, native_event in captured()
    if client(name).events[native_event] in DENIABLE and (name, native_event) != ("qwen", "UserPromptSubmit")
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(captured()), JUNK, st.data())
def test_a_damaged_payload_is_an_event_or_a_payload_error(
    which: tuple[str, str], junk: Any, data: st.DataObject
) -> None:
    payload = capture(*which)
    place = data.draw(st.sampled_from(leaves(payload)))
    try:
        context = context_of(*which, damaged(payload, place, junk))
    except PayloadError:
        return
    assert isinstance(context, dict)


@given(st.sampled_from([(name, event) for name in CLIENTS for event in CLIENTS[name].events]), JUNK)
def test_any_object_is_an_event_or_a_payload_error(which: tuple[str, str], junk: Any) -> None:
    name, native_event = which
    try:
        context = client(name).translate(native_event, junk if isinstance(junk, dict) else {"input": junk})
    except PayloadError:
        return
    if context:
        event = client(name).events[native_event]
        assert event not in DENIABLE or {"user_message", "ability_id", "trigger", "source"} & set(context)


@pytest.mark.parametrize(("name", "native_event"), DENIABLE_CAPTURES)
def test_a_payload_without_what_guards_look_at_is_refused(name: str, native_event: str) -> None:
    """What a future version may do: a field is renamed, and no guard would see the command any more."""
    payload, original = capture(name, native_event), context_of(name, native_event)
    looked_at = [original.get("user_message"), original.get("tool_name"), *original.get("tool_input", {}).values()]
    looked_at += [original.get("trigger"), original.get("source")]
    looked_at += [payload.get("tool_name"), payload.get("tool_input")]  # of an MCP tool, as Cursor has them
    needed = {repr(value) for value in looked_at}
    refused = 0
    for place in leaves(payload):
        holder: Any = payload
        for key in place:
            holder = holder[key]
        if repr(holder) not in needed or not isinstance(place[-1], str):
            continue
        renamed: Any = copy.deepcopy(payload)
        parent = renamed
        for key in place[:-1]:
            parent = parent[key]
        parent[f"{place[-1]}_new"] = parent.pop(place[-1])
        try:
            context = context_of(name, native_event, renamed)
        except PayloadError:
            refused += 1
            continue
        # What is not needed to judge the call may be missing: a description, say.
        assert context.get("user_message") == original.get("user_message")
        assert context.get("ability_id") == original.get("ability_id")
        for key in ("command", "path", "patch", "url"):
            assert context.get("tool_input", {}).get(key) == original.get("tool_input", {}).get(key)
    assert refused
