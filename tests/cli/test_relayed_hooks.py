"""Hooks of one client that another client runs, too: it is read, answered in its own words, and counted once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Samuel
from tests.clients.client_reading import capture

from samuel.base.paths import User

REAL = (sys.executable, "-m", "samuel")
DENY_RM = """input=$(cat)
echo called >> called
sleep 0.3
case $input in *"rm -rf victim"*) echo '{"decision": "deny", "reason": "it stays"}';; *) echo '{}';; esac"""
GROK = capture("grok", "PreToolUse")
RM = {"command": "rm -rf victim", "description": "x"}


def grok(**fields: Any) -> str:
    return json.dumps({**GROK, "toolInput": RM, "tool_input": RM, **fields})


def copilot(tool_name: str, tool_input: dict[str, Any], **fields: Any) -> str:
    """What Copilot CLI 1.0.102 sends to a hook of Claude Code."""
    common = {"hook_event_name": "PreToolUse", "session_id": "c1", "timestamp": "2026-11-18T13:28:16.026Z"}
    return json.dumps({**common, "cwd": "/home/you", "tool_name": tool_name, "tool_input": tool_input, **fields})


def own_copilot(command: str) -> str:
    return json.dumps({"sessionId": "c1", "toolName": "bash", "toolArgs": {"command": command}})


@pytest.fixture
def guard(yaml_hook: Callable[..., None]) -> None:
    yaml_hook("guard", "PreAbilityCall", DENY_RM, "role: guard\nmatch:\n  ability_id: [shell]\n")


def calls(project: Path) -> int:
    """How often the guard was called."""
    file = project / "called"
    return file.read_text().count("called") if file.exists() else 0


def fired(project: Path, event: str) -> list[dict[str, Any]]:
    files = project.glob(".samuel/run/journal/*.jsonl")
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [record["payload"] for record in records if record["kind"] == "event" and record["event"] == event]


@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize("hook", [("claude", "PreToolUse"), ("cursor", "preToolUse"), ("grok", "PreToolUse")])
def test_grok_is_denied_in_its_words_through_hooks_of_others(samuel: Samuel, hook: tuple[str, str]) -> None:
    ran = samuel("emit", "--as", *hook, stdin=grok())
    assert (ran.code, ran.err) == (2, "it stays\n")
    assert ran.json == {"decision": "deny", "reason": "it stays"}


def test_a_question_is_denied_when_grok_runs_the_hooks_of_claude(samuel: Samuel, yaml_hook) -> None:
    yaml_hook("asks", "PreAbilityCall", """echo '{"decision": "ask", "reason": "Sure?"}'""", "role: guard\n")
    ran = samuel("emit", "--as", "claude", "PreToolUse", stdin=grok())
    assert ran.code == 2
    assert ran.json["reason"] == "Sure? (denied: a hook cannot ask a person in Grok Build)"


def test_a_call_of_grok_that_is_not_told_as_a_whole_is_denied(samuel: Samuel) -> None:
    ran = samuel("emit", "--as", "claude", "PreToolUse", stdin=grok(toolInputTruncated=True))
    assert ran.code == 2
    assert "the input of the call is cut off" in ran.json["reason"]


@pytest.mark.parametrize(
    ("tool_name", "tool_input", "ability"),
    [
        ("Bash", {"command": "ls"}, "shell"),
        ("Write", {"path": "a.txt", "file_text": "x"}, "write"),
        ("Edit", {"path": "a.txt", "old_str": "x", "new_str": "y"}, "edit"),
        ("Read", {"path": "a.txt"}, "read"),
    ],
)
def test_calls_of_copilot_are_read_through_the_hooks_of_claude(
    samuel: Samuel, project: Path, tool_name: str, tool_input: dict[str, Any], ability: str
) -> None:
    assert samuel("emit", "--as", "claude", "PreToolUse", stdin=copilot(tool_name, tool_input)) == (0, "", "")
    result = {"result_type": "success", "text_result_for_llm": "<shellId: 0 completed with exit code 7>"}
    ended = copilot(tool_name, tool_input, hook_event_name="PostToolUse", tool_result=result)
    assert samuel("emit", "--as", "claude", "PostToolUse", stdin=ended).code == 0

    [call], [end] = fired(project, "PreAbilityCall"), fired(project, "PostAbilityCall")
    assert (call["ability_id"], call["extra"]["client"]) == (ability, "copilot")
    assert end["status"] == "failure"


@pytest.mark.usefixtures("guard")
def test_cursor_is_denied_through_the_hooks_of_claude(samuel: Samuel) -> None:
    payload = {**capture("cursor", "preToolUse"), "cursor_version": "2026.08.11"}
    ran = samuel("emit", "--as", "claude", "PreToolUse", stdin=f"\ufeff{json.dumps(payload)}")
    assert (ran.code, ran.json["permission"]) == (2, "deny")


@pytest.mark.usefixtures("guard")
def test_one_call_through_three_hooks_at_the_same_time_is_judged_once(project: Path) -> None:
    hooks = (("claude", "PreToolUse"), ("cursor", "preToolUse"), ("grok", "PreToolUse"))
    processes = [
        subprocess.Popen([*REAL, "emit", "--as", *hook], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for hook in hooks
    ]
    answers = [process.communicate(grok())[0] for process in processes]

    assert [json.loads(answer) for answer in answers] == [{"decision": "deny", "reason": "it stays"}] * 3
    assert [process.returncode for process in processes] == [2, 2, 2]
    assert calls(project) == 1
    assert len(fired(project, "PreAbilityCall")) == 1


@pytest.mark.usefixtures("guard")
def test_two_equal_calls_without_an_id_are_two_calls(samuel: Samuel, project: Path) -> None:
    for _ in range(2):
        samuel("emit", "--as", "copilot", "preToolUse", stdin=own_copilot("ls"))
        samuel("emit", "--as", "claude", "PreToolUse", stdin=copilot("Bash", {"command": "ls"}))
    assert calls(project) == 2
    assert len(fired(project, "PreAbilityCall")) == 2


@pytest.mark.usefixtures("guard")
def test_a_hook_that_alone_is_run_judges_every_call(samuel: Samuel, project: Path) -> None:
    for _ in range(3):
        samuel("emit", "--as", "claude", "PreToolUse", stdin=copilot("Bash", {"command": "ls"}))
    assert calls(project) == 3


@pytest.mark.usefixtures("guard")
def test_a_call_is_judged_where_nothing_can_be_kept(samuel: Samuel, project: Path) -> None:
    state = User.from_environment().state
    state.mkdir(parents=True, exist_ok=True)
    (state / "deliveries").write_text("not a directory")
    for hook in (("claude", "PreToolUse"), ("grok", "PreToolUse")):
        assert samuel("emit", "--as", *hook, stdin=grok()).code == 2
    assert calls(project) == 2


def test_what_claude_itself_sends_is_answered_in_its_words(samuel: Samuel, yaml_hook) -> None:
    yaml_hook("no", "PreAbilityCall", """echo '{"decision": "deny", "reason": "no"}'""", "role: guard\n")
    ran = samuel("emit", "--as", "claude", "PreToolUse", stdin=json.dumps(capture("claude", "PreToolUse")))
    assert ran.code == 0
    assert ran.json["hookSpecificOutput"]["permissionDecision"] == "deny"
