"""What the bridge writes for Codex and answers to it, against the JSON schemas that Codex publishes.

SAMUEL_CODEX_SOURCE names a clone of its repository; nothing of it is here. What the schemas say is kept as tests
of our own below, which need no clone.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from samuel.clients.codex.entries import HOOKS
from samuel.clients.dialect.events import DENIABLE, POST, PRE
from samuel.clients.dialect.protocol import ClientReply
from samuel.clients.entries.hook_command import ON_PATH
from samuel.clients.table import CLIENTS

SOURCE = os.environ.get("SAMUEL_CODEX_SOURCE", "")
CODEX = CLIENTS["codex"]
NAMES = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "Stop": "stop",
    "SessionEnd": "session-end",
    "PreCompact": "pre-compact",
}
HINTS = {
    "messages_to_user": ["Mind the gap."],
    "suggested_abilities": [{"id": "deploy.check", "reason": "you deploy"}],
    "suggested_documents": [{"path": "docs/deploy.md"}],
    "new_intent": {"intent": "deploy"},
}
COMMON = {
    "session_id": "s",
    "transcript_path": None,
    "cwd": "/work",
    "hook_event_name": "",
    "model": "gpt-5.5",
    "permission_mode": "bypassPermissions",
}
CALL = {"turn_id": "t", "tool_name": "Bash", "tool_use_id": "1", "tool_input": {"command": "ls"}}
PAYLOADS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"turn_id": "t", "prompt": "Deploy it."},
    "PreToolUse": CALL,
    "PostToolUse": {**CALL, "tool_response": "ok"},
    "Stop": {"turn_id": "t", "stop_hook_active": False, "last_assistant_message": "Done."},
    "SessionEnd": {"reason": "other"},
    "PreCompact": {"turn_id": "t", "trigger": "auto"},
}
# The keys that Codex reads of an answer, by event. It refuses an answer with another key, and says so to no one.
KEYS = {
    "SessionStart": {"systemMessage", "hookSpecificOutput"},
    "UserPromptSubmit": {"systemMessage", "hookSpecificOutput", "decision", "reason"},
    "PreToolUse": {"systemMessage", "hookSpecificOutput", "decision", "reason"},
    "PostToolUse": {"systemMessage", "hookSpecificOutput", "decision", "reason"},
    "Stop": {"systemMessage", "decision", "reason"},
    "SessionEnd": set(),
    "PreCompact": {"systemMessage", "continue", "stopReason"},
}
SPECIFIC_KEYS = {
    "SessionStart": {"hookEventName", "additionalContext"},
    "UserPromptSubmit": {"hookEventName", "additionalContext"},
    "PreToolUse": {
        *("hookEventName", "additionalContext", "permissionDecision", "permissionDecisionReason", "updatedInput")
    },
    "PostToolUse": {"hookEventName", "additionalContext"},
}


def replies(native_event: str) -> Iterator[ClientReply]:
    """Everything that Samuel can say about the event."""
    event = CODEX.events[native_event]
    yield ClientReply()
    yield ClientReply(HINTS)
    if event in DENIABLE:
        yield ClientReply({}, "deny", "not today")
        yield ClientReply(HINTS, "deny", "")
        yield ClientReply({}, "ask", "sure?")
    if event == PRE:
        yield ClientReply({**HINTS, "tool_input": {"command": "ls -la"}})
    if event == POST:
        yield ClientReply({**HINTS, "tool_output": "redacted"})
    if native_event == "Stop":
        yield ClientReply({**HINTS, "follow_up": "Run the tests."})


def answers(native_event: str) -> Iterator[dict[str, Any]]:
    """The JSON that Codex is answered, where it is answered any."""
    for reply in replies(native_event):
        answer = CODEX.answer(native_event, reply)
        if answer.stdout:
            yield json.loads(answer.stdout)


@pytest.mark.parametrize("native_event", CODEX.events)
def test_an_answer_to_codex_has_only_keys_that_it_reads(native_event: str) -> None:
    for answer in answers(native_event):
        assert set(answer) <= KEYS[native_event], answer
        specific = answer.get("hookSpecificOutput", {})
        assert set(specific) <= SPECIFIC_KEYS.get(native_event, set()), answer
        assert specific.get("hookEventName", native_event) == native_event


@pytest.mark.parametrize("native_event", CODEX.events)
def test_a_payload_with_what_codex_requires_is_read(native_event: str) -> None:
    payload = {**COMMON, "hook_event_name": native_event, **PAYLOADS[native_event]}
    assert CODEX.translate(native_event, payload)["client_event"] == native_event


def schema(path: str) -> Any:
    """A schema of the clone, as of its latest commit."""
    words = ["git", "-C", SOURCE, "show", f"HEAD:codex-rs/{path}"]
    done = subprocess.run(words, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


with_the_clone = pytest.mark.skipif(not SOURCE, reason="SAMUEL_CODEX_SOURCE names no clone of Codex")


@with_the_clone
@pytest.mark.parametrize("native_event", CODEX.events)
def test_answers_are_valid_by_the_schema_of_codex(native_event: str) -> None:
    published = schema(f"hooks/schema/generated/{NAMES[native_event]}.command.output.schema.json")
    answers_given = list(answers(native_event))
    if published is None:
        assert not answers_given, "Codex publishes no answer to this event"
        return
    for answer in answers_given:
        jsonschema_rs.validate(published, answer)
    properties = set(published["properties"])
    assert KEYS[native_event] <= properties


@with_the_clone
@pytest.mark.parametrize("native_event", CODEX.events)
def test_the_payloads_of_these_tests_are_valid_by_the_schema_of_codex(native_event: str) -> None:
    published = schema(f"hooks/schema/generated/{NAMES[native_event]}.command.input.schema.json")
    payload = {**COMMON, "hook_event_name": native_event, **PAYLOADS[native_event]}
    jsonschema_rs.validate(
        published, {key: value for key, value in payload.items() if key in published["properties"]}
    )
    assert set(published["required"]) <= set(payload)


@with_the_clone
def test_the_file_that_the_bridge_writes_is_valid_by_the_schema_of_codex() -> None:
    published = schema("core/config.schema.json")
    hooks = json.loads(HOOKS.added(None, ON_PATH))
    hooks_schema = {
        **published,
        "properties": {"hooks": published["definitions"]["HooksToml"]},
        "required": ["hooks"],
    }
    jsonschema_rs.validate(hooks_schema, hooks)
    assert set(hooks["hooks"]) <= set(published["definitions"]["HooksToml"]["properties"])
