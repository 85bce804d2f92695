"""Every verdict for every event of every client: the answer is one that the client reads as it was meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.clients.dialect.events import DENIABLE, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, DENY, FOLLOW_UP, LOST, OUTPUT, REWRITE
from samuel.clients.dialect.protocol import ClientReply
from samuel.clients.dialect.tools import native_result
from samuel.clients.table import CLIENTS, client

from .client_reading import Reading, client_events, read

ALL = [(name, native_event) for name, each in CLIENTS.items() for native_event in each.events]
HINTS: dict[str, Any] = {
    "messages_to_user": ["Mind the gap."],
    "suggested_abilities": [{"id": "deploy.check", "reason": "you deploy"}],
    "suggested_documents": [{"path": "docs/deploy.md"}],
    "new_intent": {"intent": "deploy"},
}
CALL_TOOLS = {
    "claude": "Bash",
    "codex": "Bash",
    "gemini": "run_shell_command",
    "qwen": "run_shell_command",
    "copilot": "bash",
    "kimi": "Bash",
    "opencode": "bash",
    "cline": "run_commands",
    "cursor": "Shell",
    "agy": "run_command",
    "grok": "run_terminal_command",
    "kiro": "execute_bash",
}


def reading(name: str, native_event: str, reply: ClientReply) -> Reading:
    return read(name, native_event, client(name).answer(native_event, reply))


def limit(name: str, native_event: str, kind: str) -> str:
    fact = client(name).limits.get((client(name).events[native_event], kind))
    return fact.verdict if fact else "honoured"


@pytest.mark.parametrize(("name", "native_event"), ALL)
@pytest.mark.parametrize("decision", ["", "allow"])
def test_nothing_to_say_is_silence_and_never_an_allow(name: str, native_event: str, decision: str) -> None:
    answer = client(name).answer(native_event, ClientReply({}, decision, ""))
    assert answer.stderr == ""
    assert read(name, native_event, answer) == Reading()


@pytest.mark.parametrize(("name", "native_event"), client_events(*DENIABLE))
@pytest.mark.parametrize("reason", ["not on a Friday", ""])
def test_a_denial_is_one_in_the_clients_words(name: str, native_event: str, reason: str) -> None:
    denied = reading(name, native_event, ClientReply({"tool_input": {"x": 1}}, "deny", reason))
    assert denied.decision == "deny"
    assert denied.tool_input is None
    if limit(name, native_event, DENY) != LOST:
        assert denied.reason == (reason or "denied by a hook of this project")


@pytest.mark.parametrize(("name", "native_event"), client_events(*DENIABLE))
def test_a_question_is_asked_or_denied_and_never_passed_over(name: str, native_event: str) -> None:
    question = reading(name, native_event, ClientReply({}, "ask", "Deploy now?"))
    asks = {"claude", "copilot", "agy"} if client(name).events[native_event] == PRE else set()
    can_ask = name in asks or native_event in ("beforeShellExecution", "beforeMCPExecution")
    assert question.decision == ("ask" if can_ask else "deny")
    if limit(name, native_event, ASK) != LOST:
        assert question.reason.startswith("Deploy now?")
    if not can_ask:
        assert "a hook cannot ask a person in" in question.reason


@pytest.mark.parametrize(("name", "native_event"), client_events(PRE))
def test_a_rewrite_arrives_with_the_clients_own_keys_or_is_declared_lost(name: str, native_event: str) -> None:
    tool = CALL_TOOLS[name]
    own_key = client(name).tools[tool].keys["command"]
    result = native_result(client(name), tool, {"tool_input": {"command": "ls", "more": 1}})
    rewritten = reading(name, native_event, ClientReply(result))
    if limit(name, native_event, REWRITE) == LOST or native_event.startswith("before"):
        assert rewritten == Reading()
        return
    assert rewritten.tool_input == {own_key: ["ls"] if own_key == "commands" else "ls", "more": 1}
    # Only these clients take a rewrite together with their allow and not without it.
    assert rewritten.decision == ("allow" if name in ("codex", "copilot", "cursor") else "")


@pytest.mark.parametrize("name", ["claude", "copilot"])
def test_a_rewrite_with_a_question_is_asked(name: str) -> None:
    native_event = next(event for event, ours in client(name).events.items() if ours == PRE)
    question = reading(name, native_event, ClientReply({"tool_input": {"command": "ls"}}, "ask", "Sure?"))
    assert (question.decision, question.tool_input) == ("ask", {"command": "ls"})


@pytest.mark.parametrize(("name", "native_event"), client_events(POST))
def test_another_output_arrives_or_is_declared_lost(name: str, native_event: str) -> None:
    result = native_result(client(name), CALL_TOOLS[name], {"tool_output": "hidden"})
    output = reading(name, native_event, ClientReply(result)).tool_output
    if limit(name, native_event, OUTPUT) == LOST or "Failure" in native_event:
        assert output is None
    elif name == "claude":  # Claude Code drops an output that has not the shape of the tool's
        assert output == {"stdout": "hidden", "stderr": "", "interrupted": False, "isImage": False}
    else:
        assert output == "hidden"


def test_claude_gets_the_output_of_another_tool_as_it_is() -> None:
    assert native_result(client("claude"), "Read", {"tool_output": {"a": 1}}) == {"tool_output": {"a": 1}}


@pytest.mark.parametrize(("name", "native_event"), ALL)
def test_hints_reach_the_client_or_the_facts_say_that_they_do_not(name: str, native_event: str) -> None:
    context = reading(name, native_event, ClientReply(HINTS)).context
    if limit(name, native_event, CONTEXT) == "honoured":
        assert "Mind the gap." in context
        assert (
            "- `samuel ability call deploy.check`: you deploy\n- read `docs/deploy.md`\n- intent: deploy"
            in context
        )


@pytest.mark.parametrize(("name", "native_event"), client_events(STOP))
@pytest.mark.parametrize(
    "reply", [ClientReply({"follow_up_messages": ["Run the tests.", "Then stop."]}), ClientReply({}, "deny", "no")]
)
def test_a_session_goes_on_where_the_client_can(name: str, native_event: str, reply: ClientReply) -> None:
    follow_up = reading(name, native_event, reply).follow_up
    if limit(name, native_event, FOLLOW_UP) == LOST:
        assert follow_up == ""
    else:
        assert follow_up == ("no" if reply.decision else "Run the tests.\n\nThen stop.")


@pytest.mark.parametrize(("name", "native_event"), client_events(START, POST))
def test_what_cannot_be_denied_is_not(name: str, native_event: str) -> None:
    answer = client(name).answer(native_event, ClientReply({}, "deny", "no"))
    assert answer.exit_code == 0
    assert read(name, native_event, answer).decision == ""


def test_codex_gets_no_key_that_it_does_not_read() -> None:
    """It ignores the whole answer if there is one, and runs the tool."""
    allowed = {
        "SessionStart": {"systemMessage", "hookSpecificOutput"},
        "UserPromptSubmit": {"systemMessage", "hookSpecificOutput"},
        "PreToolUse": {"systemMessage", "hookSpecificOutput"},
        "PostToolUse": {"systemMessage", "hookSpecificOutput"},
        "Stop": {"systemMessage", "decision", "reason"},
    }
    result = {**HINTS, "tool_input": {"command": "ls"}, "tool_output": "x", "follow_up_messages": ["go on"]}
    for native_event, keys in allowed.items():
        fields = json.loads(client("codex").answer(native_event, ClientReply(result)).stdout)
        assert set(fields) == keys
        specific = fields.get("hookSpecificOutput", {"hookEventName": native_event})
        assert set(specific) <= {"hookEventName", "additionalContext", "permissionDecision", "updatedInput"}
    assert client("codex").answer("SessionEnd", ClientReply(result)).stdout == ""


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
KEYS = ["messages_to_user", "suggested_abilities", "suggested_documents", "new_intent", "follow_up_messages"]


@given(
    st.sampled_from(ALL),
    st.dictionaries(st.sampled_from([*KEYS, "tool_input", "tool_output", "data"]), JUNK),
    st.sampled_from(["", "allow", "ask", "deny"]),
    st.text(max_size=20),
)
def test_any_reply_has_an_answer_that_the_client_can_read(
    which: tuple[str, str], result: dict[str, Any], decision: str, reason: str
) -> None:
    name, native_event = which
    composed = native_result(client(name), CALL_TOOLS[name], result)
    answer = client(name).answer(native_event, ClientReply(composed, decision, reason))
    json.loads(answer.stdout or "{}")
    assert answer.exit_code in (0, 2)
    if decision == "deny" and client(name).events[native_event] in DENIABLE:
        assert read(name, native_event, answer).decision == "deny"
    assert PROMPT in DENIABLE
