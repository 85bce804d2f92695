"""The plugin of opencode, run by node with a samuel that answers as the test says."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.clients.entries.hook_command import ON_PATH, EmitCommand
from samuel.clients.opencode.plugin import plugin_text

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

CALLER = """
import { Samuel } from "./plugin.mjs"
const hooks = await Samuel({ directory: process.cwd() })
const [name, input, output] = JSON.parse(process.argv[2])
try {
  await (name === "event" ? hooks.event({ event: input }) : hooks[name](input, output))
  console.log(JSON.stringify({ output }))
} catch (error) {
  console.log(JSON.stringify({ thrown: error.message }))
}
"""

Call = Callable[..., dict[str, object]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Call a hook of the plugin, with this script for samuel; without one there is no samuel."""

    def run(
        name: str,
        hook_input: object,
        output: object,
        script: str = "",
        command: EmitCommand | None = None,
        **options,
    ):
        (tmp_path / "plugin.mjs").write_text(plugin_text(command or ON_PATH, **options))
        (tmp_path / "caller.mjs").write_text(CALLER)
        if script:
            program = tmp_path / "samuel-emit"
            program.write_text(f'#!/bin/sh\n[ "$1" = --socket ] && exit\n{script}\n')
            program.chmod(0o755)
        done = subprocess.run(
            [str(NODE), "caller.mjs", json.dumps([name, hook_input, output])],
            cwd=tmp_path,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""
        return json.loads(done.stdout)

    return run


BEFORE = ("tool.execute.before", {"tool": "bash"}, {"args": {"command": "ls", "old": 1}})


def test_rewritten_arguments_replace_the_old_ones(call):
    answer = call(*BEFORE, script="""cat > payload; echo "$@" > arguments; echo '{"args": {"command": "pwd"}}'""")
    assert answer == {"output": {"args": {"command": "pwd"}}}


def test_samuel_gets_the_input_and_the_output_of_the_hook(call, tmp_path):
    call(*BEFORE, script='cat > payload; echo "$@" > arguments')
    assert json.loads((tmp_path / "payload").read_text()) == {"input": BEFORE[1], "output": BEFORE[2]}
    assert (tmp_path / "arguments").read_text() == "--as opencode tool.execute.before\n"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no >&2; exit 2", "no"),
        ("exit 1", "samuel failed"),
        ("kill -9 $$", "samuel failed"),
        ("echo '{'", "not JSON"),
        ("", "samuel is not on PATH"),
    ],
)
def test_denial_and_every_fault_throw(call, script, reason):
    assert reason in call(*BEFORE, script=script)["thrown"]


def test_moved_samuel_of_a_user_denies(call, tmp_path):
    command = EmitCommand((str(tmp_path / "gone"),))
    assert "moved or removed" in call(*BEFORE, command=command)["thrown"]


@pytest.mark.parametrize("script", ["", "exit 1", "echo no >&2; exit 2"])
def test_events_that_cannot_be_denied_are_never_disturbed(call, script):
    after = ("tool.execute.after", {"tool": "bash"}, {"output": "text"})
    assert call(*after, script=script) == {"output": {"output": "text"}}
    assert call("event", {"type": "session.idle"}, None, script=script) == {"output": None}


def test_output_and_context_are_passed_on(call):
    after = ("tool.execute.after", {"tool": "bash"}, {"output": "text"})
    assert call(*after, script="""echo '{"output": "other"}'""") == {"output": {"output": "other"}}
    message = ("chat.message", {}, {"parts": [{"type": "text", "text": "do it"}]})
    answer = call(*message, script="""echo '{"context": "read this"}'""")
    assert answer["output"]["parts"][0]["text"] == "do it\n\nread this"


def test_other_events_of_sessions_start_nothing(call, tmp_path):
    call("event", {"type": "file.edited"}, None, script="touch called")
    assert not (tmp_path / "called").exists()


def test_events_that_the_plugin_is_not_for_start_nothing(call, tmp_path):
    of_run = {"events": ["tool.execute.before"], "asks_project_server": False}
    after = ("tool.execute.after", {"tool": "bash"}, {"output": "text"})
    message = ("chat.message", {}, {"parts": []})
    for event in (after, message, ("event", {"type": "session.idle"}, None)):
        assert call(*event, script="touch called", **of_run) == {"output": event[2]}
    assert not (tmp_path / "called").exists()
    call(*BEFORE, script='echo "$@" >> called', **of_run)
    assert (tmp_path / "called").read_text() == "--as opencode tool.execute.before\n"
