"""`samuel emit --as CLIENT`: the client is answered in its own words, whatever goes wrong on the way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.client_reading import Reading, capture, captured, client_events, read

from samuel.clients.dialect.events import DENIABLE, PRE, PROMPT
from samuel.clients.dialect.protocol import ClientAnswer
from samuel.clients.table import CLIENTS

REAL = (sys.executable, "-m", "samuel")
CALLS = [(name, event) for name, event in client_events(PRE) if (name, event) in captured()]
PROMPTS = [(name, event) for name, event in client_events(PROMPT) if (name, event) in captured()]
OTHERS = [(name, event) for name, event in captured() if CLIENTS[name].events[event] not in DENIABLE]

Emit = Callable[..., Reading]


@pytest.fixture
def emit(samuel: Any) -> Emit:
    """Run `emit --as` and give what the client makes of the answer."""

    def call(name: str, native_event: str, payload: Any = None, *options: str) -> Reading:
        stdin = payload if isinstance(payload, str) else json.dumps(payload or capture(name, native_event))
        ran = samuel("emit", "--as", name, native_event, *options, stdin=stdin)
        return read(name, native_event, ClientAnswer(ran.out, ran.err, ran.code))

    return call


@pytest.fixture
def hook(yaml_hook: Callable[..., None]) -> Callable[..., None]:
    """A guard with this body."""

    def write(body: str, event: str = PRE, more: str = "role: guard\n", *, trust: bool = True) -> None:
        yaml_hook("h", event, body, more, trust=trust)

    return write


def denied(reading: Reading, name: str, words: str) -> None:
    """It is a denial, with the reason; where the client takes no answer at all, as much as there is."""
    assert reading.decision == "deny", (name, reading)
    assert words in reading.reason, (name, reading)


@pytest.mark.parametrize(("name", "native_event"), CALLS)
def test_one_guard_denies_the_same_call_in_every_client(emit: Emit, hook, name: str, native_event: str) -> None:
    hook(
        """echo '{"decision": "deny", "reason": "not here"}'""", more="role: guard\nmatch: {ability_id: [shell]}\n"
    )
    reading = emit(name, native_event)
    if native_event in ("beforeReadFile", "beforeMCPExecution"):  # no shell
        assert reading == Reading()
    else:
        denied(reading, name, "not here")


def test_the_event_has_the_common_names_and_the_clients_own(emit: Emit, hook, project: Path) -> None:
    hook("cat > seen.json")
    assert emit("claude", "PreToolUse") == Reading()
    event_seen = json.loads((project / "seen.json").read_text())
    assert (event_seen["ability_id"], event_seen["tool_name"], event_seen["client"]) == ("shell", "Bash", "claude")
    assert (event_seen["call_id"], event_seen["client_event"]) == ("toolu_00000131", "PreToolUse")
    assert event_seen["session_id"] == "c7878f56-cd96-4e9d-a23a-1462665cd56b"


def test_an_event_inside_a_run_belongs_to_the_run(emit: Emit, hook, project: Path, monkeypatch) -> None:
    hook("cat > seen.json")
    for variable in ("SAMUEL_RUN_ID", "SAMUEL_SESSION_ID", "SAMUEL_TASK_ID"):
        monkeypatch.setenv(variable, variable.lower())
    emit("codex", "PreToolUse")
    event_seen = json.loads((project / "seen.json").read_text())
    assert (event_seen["run_id"], event_seen["session_id"], event_seen["task_id"]) == (
        "samuel_run_id",
        "samuel_session_id",
        "samuel_task_id",
    )
    assert event_seen["client_session"] == "01a1e2d4-290a-73a0-b789-ca1ef2009122"


@pytest.mark.parametrize(
    ("name", "decision"), [("claude", "ask"), ("copilot", "ask"), ("codex", "deny"), ("gemini", "deny")]
)
def test_a_question_is_the_clients_to_ask(emit: Emit, hook, name: str, decision: str) -> None:
    hook("""echo '{"decision": "ask", "reason": "Really?"}'""")
    native_event = next(event for client, event in CALLS if client == name)
    reading = emit(name, native_event)
    assert (reading.decision, reading.reason.startswith("Really?")) == (decision, True)


def test_a_rewrite_has_the_clients_own_keys(emit: Emit, hook) -> None:
    hook("""echo '{"tool_input": {"command": "ls", "n": 1}}'""", more="role: rewrite\n")
    assert emit("claude", "PreToolUse").tool_input == {"command": "ls", "n": 1}
    assert emit("cline", "PreToolUse").tool_input == {"commands": ["ls"], "n": 1}
    assert emit("codex", "PreToolUse")[:3] == ("allow", "", {"command": "ls", "n": 1})


def test_results_are_stored_in_the_clients_session(emit: Emit, hook, samuel) -> None:
    answer = '{"suggested_documents": [{"path": "a.md"}], "messages_to_user": ["Hm."]}'
    hook(f"echo '{answer}'", PROMPT, "")
    context = emit("claude", "UserPromptSubmit").context
    assert "Hm." in context
    assert "- read `a.md`" in context
    session = capture("claude", "UserPromptSubmit")["session_id"]
    assert "document `a.md`" in samuel("session", "show", "--id", session).out


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen", "copilot"])
def test_a_session_goes_on_once(emit: Emit, hook, name: str) -> None:
    hook("""echo '{"follow_up_messages": ["Run the tests."]}'""", "SessionStop", "")
    native_event = next(event for client, event in client_events("SessionStop") if client == name)
    assert emit(name, native_event).follow_up == "Run the tests."
    again = {**capture(name, native_event), "stop_hook_active": True}
    assert emit(name, native_event, again).follow_up == ""


def test_a_prompt_that_qwen_repeats_fires_nothing(emit: Emit, hook, project: Path) -> None:
    hook("touch fired; echo '{}'", PROMPT, "")
    assert emit("qwen", "UserPromptSubmit") == Reading()
    assert not (project / "fired").exists()
    emit("qwen", "UserPromptSubmit", {**capture("qwen", "UserPromptSubmit"), "prompt": "do-it"})
    assert (project / "fired").exists()


def test_opencode_may_give_all_events_of_sessions_one_name(emit: Emit, samuel, hook, project: Path) -> None:
    hook("touch fired; echo '{}'", "SessionStart", "")
    assert samuel("emit", "--as", "opencode", "event", stdin='{"input": {"type": "lsp.updated"}}') == (0, "", "")
    assert not (project / "fired").exists()
    payload = json.dumps(capture("opencode", "session.created"))
    assert samuel("emit", "--as", "opencode", "event", stdin=payload).code == 0
    assert (project / "fired").exists()
    assert samuel("emit", "--as", "opencode", "event", stdin="[").err.startswith("samuel: the payload on stdin")


# Faults at the border


@pytest.mark.parametrize("payload", ["[", "{} {}", "[]", "null", " ", "{}", '{"tool_name": NaN}', "[" * 100_000])
def test_a_payload_that_cannot_be_read_denies(emit: Emit, samuel, payload: str) -> None:
    for name, native_event in [*CALLS, *PROMPTS]:
        denied(emit(name, native_event, payload), name, "")
    assert emit("claude", "PreToolUse", payload).reason.startswith("samuel: ")


def test_a_payload_of_another_event_denies(emit: Emit) -> None:
    denied(emit("claude", "PreToolUse", capture("claude", "Stop")), "claude", "the payload is for `Stop`, not for")


def test_a_renamed_field_of_a_future_version_denies(emit: Emit) -> None:
    for name, native_event in CALLS:
        text = json.dumps(capture(name, native_event))
        for key in (
            "tool_name",
            "toolName",
            "command",
            "CommandLine",
            "commands",
            "tool_call",
            "toolCall",
            "args",
        ):
            # These tell the name of the tool twice; the other one is read.
            unread = (name, key) in (("cline", "toolName"), ("grok", "tool_name"))
            if f'"{key}": ' in text and not unread and "MCP" not in native_event:
                reading = emit(name, native_event, text.replace(f'"{key}": ', f'"{key}2": '))
                denied(reading, name, f"cannot read the payload of `{native_event}`")


FAULTS = {
    "crashes": ("exit 3", "`h` crashed: exit code 3; a guard that fails denies"),
    "says something else": ("echo not json", "`h` bad_output"),
    "hangs": ("exec sleep 600", "`h` timed_out"),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_guard_that_fails_denies(emit: Emit, hook, fault: str) -> None:
    body, words = FAULTS[fault]
    hook(body, more="blocking: true\ntimeout: 1s\n" if fault == "hangs" else "blocking: true\n")
    clients = ("claude", "codex", "copilot") if fault == "hangs" else CLIENTS
    for name, native_event in CALLS:
        if name in clients and native_event != "beforeReadFile":
            denied(emit(name, native_event), name, words)


def test_a_guard_that_nobody_trusts_denies(emit: Emit, hook) -> None:
    hook("touch hacked", trust=False)
    for name, native_event in CALLS:
        denied(emit(name, native_event), name, "a guard that cannot run denies")
    assert not Path("hacked").exists()


def test_a_broken_samuel_toml_denies(emit: Emit, put) -> None:
    put("samuel.toml", "nonsense = [\n")
    for name, native_event in [*CALLS, *PROMPTS]:
        if (name, native_event) != ("qwen", "UserPromptSubmit"):
            denied(emit(name, native_event), name, "" if name == "copilot" else "not valid TOML")


@pytest.mark.parametrize("fault", ["payload", "samuel.toml", "hook", "untrusted"])
def test_an_event_that_cannot_be_denied_never_stops_the_client(emit: Emit, samuel, put, hook, fault: str) -> None:
    if fault == "samuel.toml":
        put("samuel.toml", "nonsense = [\n")
    elif fault != "payload":
        for event in ("SessionStart", "PostAbilityCall", "SessionEnd"):
            hook("exit 3", event, "blocking: true\n", trust=fault == "hook")
    for name, native_event in OTHERS:
        stdin = "[" if fault == "payload" else json.dumps(capture(name, native_event))
        ran = samuel("emit", "--as", name, native_event, stdin=stdin)
        assert ran.code == 0, (name, native_event, ran)
        assert read(name, native_event, ClientAnswer(ran.out, "", 0)).decision == "", (name, native_event)
    assert "samuel: " in samuel("emit", "--as", "claude", "SessionStart", stdin="[").json["systemMessage"]


def test_emit_refuses_an_event_that_the_client_does_not_have(samuel) -> None:
    ran = samuel("emit", "--as", "claude", "PreToolUze", stdin="{}")
    assert ran.code == 2
    assert "error: `PreToolUze` is not an event of Claude Code\ndid you mean `PreToolUse`?" in ran.err
    assert "did you mean `claude`?" in samuel("emit", "--as", "cluade", "PreToolUse", stdin="{}").err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_ended_denies(hook, project: Path, number: int) -> None:
    hook("touch began; exec sleep 60")
    with subprocess.Popen(
        [*REAL, "emit", "--as", "claude", "PreToolUse"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        process.stdin.write(json.dumps(capture("claude", "PreToolUse")))
        process.stdin.close()
        while not (project / "began").exists():
            time.sleep(0.02)
        process.send_signal(number)
        assert process.stdout
        out, code = process.stdout.read(), process.wait(300)
    denied(
        read("claude", "PreToolUse", ClientAnswer(out, "", code)), "claude", "samuel: interrupted" if out else ""
    )


# Calls that no hook matches


def test_a_call_that_no_hook_matches_goes_on_in_every_client(emit: Emit, hook) -> None:
    hook("exit 1", more="role: guard\nmatch: {ability_id: [deploy]}\n")
    for name, native_event in CALLS:
        assert emit(name, native_event) == Reading(), name


def test_a_call_that_cannot_be_read_is_denied_where_a_guard_might_match(emit: Emit, hook) -> None:
    hook("exit 1", more="role: guard\nmatch: {ability_id: [shell]}\n")
    payload = capture("claude", "PreToolUse")
    assert emit("claude", "PreToolUse").decision == "deny"
    read_call = {**payload, "tool_name": "Read", "tool_input": {"file_path": "a"}}
    assert emit("claude", "PreToolUse", read_call) == Reading()
    for stdin in ("[", "{}", '{"tool_name": "\\ud800"}'):
        assert emit("claude", "PreToolUse", stdin).decision == "deny", stdin


@pytest.mark.parametrize(
    "words", [("client", "PreToolUse"), ("claude", "PreTooluse"), ("claude", "PreAbilityCall")]
)
def test_a_mistyped_client_or_event_is_refused(samuel, hook, words: tuple[str, str]) -> None:
    hook("exit 1", more="role: guard\nmatch: {ability_id: [shell]}\n")
    assert samuel("emit", "--as", *words, stdin=json.dumps(capture("claude", "PreToolUse"))).code == 2
