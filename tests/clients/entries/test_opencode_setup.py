"""The half of opencode's plugin that opencode 2 loads, run by node with hooks as opencode 2 documents them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.clients.entries.hook_command import ON_PATH
from samuel.clients.opencode.plugin import plugin_text

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

HOST = """
import plugin from "./plugin.mjs"
const hooks = {}
const domain = (name) => ({ hook: async (hook, callback) => { hooks[`${name}.${hook}`] = callback } })
const [name, event] = JSON.parse(process.argv[2])
async function* events() { if (name === "event") yield event }
await plugin.setup({ tool: domain("tool"), session: domain("session"), event: { subscribe: events } })
try {
  if (name !== "event") await hooks[name](event)
  else await new Promise((resolve) => setTimeout(resolve, 500))
  console.log(JSON.stringify({ id: plugin.id, server: typeof plugin.server, event }))
} catch (error) {
  console.log(JSON.stringify({ thrown: error.message }))
}
"""

CALL = {"sessionID": "s1", "agent": "build", "messageID": "m1", "id": "call_1"}
SHELL = {**CALL, "tool": "shell", "input": {"command": "ls"}}

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Call a hook that `setup` registered, with this script for samuel."""

    def run(name: str, event: object, script: str) -> dict[str, Any]:
        (tmp_path / "plugin.mjs").write_text(plugin_text(ON_PATH))
        (tmp_path / "host.mjs").write_text(HOST)
        program = tmp_path / "samuel-emit"
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --socket ] && exit\necho "$@" > arguments\ncat > payload\n{script}\n'
        )
        program.chmod(0o755)
        words = [str(NODE), "host.mjs", json.dumps([name, event])]
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.stderr == ""
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


def payload(directory: Path) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads((directory / "payload").read_text())
    return sent


def test_the_default_export_has_a_half_for_each_version(call: Call) -> None:
    answer = call("tool.execute.before", SHELL, "echo '{}'")
    assert (answer["id"], answer["server"]) == ("samuel", "function")


def test_a_call_of_opencode_2_is_told_as_one_of_opencode_1(call: Call, tmp_path: Path) -> None:
    call("tool.execute.before", SHELL, "echo '{}'")
    assert (tmp_path / "arguments").read_text() == "--as opencode tool.execute.before\n"
    assert payload(tmp_path) == {
        "input": {"tool": "shell", "sessionID": "s1", "callID": "call_1"},
        "output": {"args": {"command": "ls"}},
    }


@pytest.mark.parametrize(
    ("script", "reason"), [("echo no >&2; exit 2", "no"), ("exit 1", "samuel failed"), ("echo '{'", "not JSON")]
)
def test_a_denial_and_every_fault_throw(call: Call, script: str, reason: str) -> None:
    assert reason in call("tool.execute.before", SHELL, script)["thrown"]


def test_a_file_has_the_key_of_each_version(call: Call, tmp_path: Path) -> None:
    event = {**CALL, "tool": "edit", "input": {"path": "a.txt", "oldString": "x", "newString": "y"}}
    answer = call("tool.execute.before", event, """echo '{"args": {"filePath": "b.txt", "newString": "z"}}'""")
    assert payload(tmp_path)["output"]["args"] == {"filePath": "a.txt", "oldString": "x", "newString": "y"}
    assert answer["event"]["input"] == {"path": "b.txt", "newString": "z"}


def test_another_output_replaces_both_forms_of_it(call: Call, tmp_path: Path) -> None:
    result = {"content": "secret", "output": {"output": "secret", "exit": 3}}
    event = {**SHELL, "status": "completed", "result": result}
    answer = call("tool.execute.after", event, """echo '{"output": "hidden"}'""")
    assert payload(tmp_path)["output"]["metadata"]["exit"] == 3
    assert answer["event"]["result"] == {"content": "hidden", "output": {"output": "hidden", "exit": 3}}


def test_a_call_that_failed_is_told_and_stays_as_it_is(call: Call, tmp_path: Path) -> None:
    event = {**SHELL, "status": "error", "error": {"message": "no such file"}}
    assert call("tool.execute.after", event, """echo '{"output": "hidden"}'""")["event"] == event
    assert payload(tmp_path)["output"] == {"output": "no such file", "metadata": {"error": True}}


def test_a_prompt_gets_the_context_of_hooks(call: Call, tmp_path: Path) -> None:
    event = {"sessionID": "s1", "prompt": {"text": "do it"}}
    answer = call("session.prompt", event, """echo '{"context": "read this"}'""")
    assert payload(tmp_path)["output"]["parts"] == [{"type": "text", "text": "do it"}]
    assert answer["event"]["prompt"]["text"] == "do it\n\nread this"


@pytest.mark.parametrize(
    ("event_type", "old_name"),
    [("session.created", "session.created"), ("session.execution.succeeded", "session.idle")],
)
def test_events_of_sessions_are_told_under_the_old_names(
    call: Call, tmp_path: Path, event_type: str, old_name: str
) -> None:
    call("event", {"type": event_type, "data": {"sessionID": "s1"}}, "echo '{}'")
    assert (tmp_path / "arguments").read_text() == f"--as opencode {old_name}\n"
    assert payload(tmp_path) == {"input": {"type": old_name, "properties": {"sessionID": "s1"}}}
