from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.clock import FakeClock
from samuel.events import ContextExtra, PreAbilityCall
from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.process.environment import clean
from samuel.runtimes.exec import ExecRuntime

from .contract import LIMIT, RuntimeContract, event, setting

SCRIPTS = {
    "answers": """#!/bin/sh\necho '{"extras": [{"name": "a", "content": "b"}]}'\n""",
    "empty": "#!/bin/sh\n",
    "data": """#!/bin/sh\necho '{"data": {"Venv": ".venv"}, "unknown": [1]}'\n""",
    "crash": "#!/bin/sh\necho the reason >&2\nexit 1\n",
    "hang": "#!/bin/sh\nsetsid sleep 60 &\nsleep 60\n",
    "bad": "#!/bin/sh\necho hello\n",
    "flood": f"#!/bin/sh\nhead -c {4 * LIMIT} /dev/zero\n",
    "chatter": """#!/bin/sh\necho chatter >&2\necho '{"x": 1}'\n""",
    "echo": f"""#!{sys.executable} -S
import json, sys
e = json.load(sys.stdin)
t = e["task"]
print(json.dumps(dict(deadline_ms=e["deadline_ms"], event=e["event"], size=len(t["text"]), id=t["id"])))
""",
}


def write(root: Path, name: str, text: str, **more: object) -> Handler:
    file = root / name
    file.write_text(text)
    file.chmod(0o755)
    return Handler(name=name, event="context.extra", origin=Origin.PROJECT, runtime="exec", path=str(file), **more)  # type: ignore[arg-type]


class TestContract(RuntimeContract):
    def build(self, root: Path) -> ExecRuntime:
        for behaviour, text in SCRIPTS.items():
            write(root, behaviour, text)
        return ExecRuntime(setting(root, root / "cache"))

    def handler(self, root: Path, behaviour: str) -> Handler:
        return Handler(
            name=behaviour,
            event="context.extra",
            origin=Origin.PROJECT,
            runtime="exec",
            path=str(root / behaviour),
        )


@pytest.fixture
def runtime(tmp_path: Path) -> ExecRuntime:
    return ExecRuntime(setting(tmp_path, tmp_path / "cache", clean({"HELLO": "there"}), clock=FakeClock(1000.0)))


def test_what_a_process_finds_in_its_environment(
    runtime: ExecRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """#!/bin/sh
echo "{\\"deadline\\": \\"$SAMUEL_DEADLINE\\", \\"event\\": \\"$SAMUEL_EVENT\\", \\"id\\": \\"$SAMUEL_EVENT_ID\\",
 \\"root\\": \\"$SAMUEL_PROJECT_ROOT\\", \\"cwd\\": \\"$(pwd)\\", \\"hello\\": \\"$HELLO\\", \\"arg\\": \\"$1\\"}"
"""
    reply = runtime.call(write(tmp_path, "hook", script, entry="run"), event(project_root="/p"), 5.0)
    assert reply.result == {
        "deadline": "1005.000",
        "event": "context.extra",
        "id": "evt-1",
        "root": "/p",
        "cwd": str(tmp_path),
        "hello": "there",
        "arg": "run",
    }


def test_secrets_and_loader_variables_of_the_host_do_not_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "LD_PRELOAD_X", "PYTHONPATH", "BASH_ENV", "SAMUEL_TRUST"):
        monkeypatch.setenv(name, "leaked")
    runtime = ExecRuntime(setting(tmp_path, tmp_path / "cache"))
    script = "#!/bin/sh\nif env | grep -q leaked; then echo '{\"leaked\": true}'; fi\n"
    reply = runtime.call(write(tmp_path, "hook", script), event(), 5.0)
    assert (reply.outcome, reply.result) == (Outcome.OK, {})


def test_a_module_beside_a_python_hook_shadows_nothing(runtime: ExecRuntime, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "helper.py").write_text("VALUE = 7")
    script = f"#!{sys.executable}\nimport json, helper\nprint(json.dumps({{'x': helper.VALUE}}))\n"
    assert runtime.call(write(tmp_path, "hook", script), event(), 10.0).result == {"x": 7}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda file: file.mkdir(), "is a directory"),
        (lambda file: file.symlink_to("nowhere"), "link to something that does not exist"),
        (lambda file: (file.write_text("#!/nowhere/python\n"), file.chmod(0o755)), "/nowhere/python"),
        (lambda file: (file.write_text("#!/usr/bin/env nonesuch\n"), file.chmod(0o755)), "nonesuch"),
        (lambda file: (file.write_text("#!/bin/sh\n"), file.chmod(0o644)), "chmod +x"),
        (lambda file: (file.write_text(""), file.chmod(0o755)), "empty"),
        (lambda file: os.mkfifo(file, 0o755), "not a regular file"),
    ],
    ids=["directory", "dangling link", "no interpreter", "env finds nothing", "not executable", "empty", "fifo"],
)
def test_why_a_file_is_not_started(
    runtime: ExecRuntime, tmp_path: Path, make: Callable[[Path], object], says: str
) -> None:
    make(tmp_path / "hook")
    reply = runtime.call(
        Handler(name="hook", event="", origin=Origin.PROJECT, runtime="exec", path=str(tmp_path / "hook")),
        event(),
        5.0,
    )
    assert reply.outcome is Outcome.NOT_STARTED
    assert says in reply.message


def test_a_hook_of_another_dialect_reads_and_writes_its_own_words(runtime: ExecRuntime, tmp_path: Path) -> None:
    script = f"""#!{sys.executable} -S
import json, sys
event = json.load(sys.stdin)
print(json.dumps({{"blocked": False, "input": {{"keys": sorted(event), "event": event["event"]}}}}))
"""
    handler = write(tmp_path, "hook", script, dialect="kodelet")
    reply = runtime.call(handler, PreAbilityCall(ability_id="bash", session_id="s", tool_input={"a": 1}), 10.0)
    assert reply.result == {
        "blocked": False,
        "tool_input": {
            "keys": ["conv_id", "cwd", "event", "invoked_by", "tool_input", "tool_name", "tool_user_id"],
            "event": "before_tool_call",
        },
    }


def test_the_last_64_kib_of_stderr_are_kept(runtime: ExecRuntime, tmp_path: Path) -> None:
    script = "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x >&2\necho end >&2\n"
    reply = runtime.call(write(tmp_path, "hook", script), event(), 10.0)
    assert len(reply.stderr) == 64 * 1024
    assert reply.stderr.endswith("xend\n")


def test_stderr_that_is_not_utf_8_is_not_a_fault(runtime: ExecRuntime, tmp_path: Path) -> None:
    script = "#!/bin/sh\nprintf '\\377' >&2\n"
    assert runtime.call(write(tmp_path, "hook", script), ContextExtra(task={}), 10.0).outcome is Outcome.OK
