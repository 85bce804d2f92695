"""Handlers whose answer is not awaited: they run, they are recorded, and they end when they must."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import samuel
from samuel.background.calls import START
from samuel.background.supervisor import CHANGED_BEFORE
from samuel.files.lock import held
from samuel.hooks.handler import HandlerStatus
from samuel.journal.reader import newest_first
from samuel.journal.records import CallRecord
from samuel.testing import SamuelProject
from samuel.trust.permit import CHANGED

PATHS = "import sys; sys.path += sys.argv.pop(1), sys.argv.pop(1)\n"
WAITS = """\
echo $$ > {root}/began
while [ ! -e {root}/go ]; do sleep 0.02; done
touch {root}/done
"""
TURN = {"response": "r", "turn_number": 1}


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return value


@pytest.fixture(autouse=True)
def nothing_left(samuel_project: SamuelProject, marked: Any) -> Iterator[None]:
    """A supervisor ends by itself, a moment after its last call; then there must be nothing left."""
    yield
    samuel_project.close()
    until(lambda: not marked.pids(), "processes were left")


def calls(project: SamuelProject) -> list[CallRecord]:
    records = newest_first(project.root, project.root / ".samuel/run/journal")
    return [record for record in records if isinstance(record, CallRecord) and record.background]


def only_call(project: SamuelProject) -> CallRecord:
    (call,) = until(lambda: calls(project), "the background call is not in the journal")
    return call


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def has_ended(pid: int) -> bool:
    """Whether a child is dead with all of its threads; it stays a zombie."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def pid_of_handler(project: SamuelProject) -> int:
    file = project.root / "began"
    return int(until(lambda: file.exists() and file.read_text().strip(), "the handler was not started"))


def yaml_hook(project: SamuelProject, event: str, body: str = WAITS, more: str = "", name: str = "late") -> None:
    """A YAML hook in the background, trusted."""
    script = project.root / "scripts" / f"{name}.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\ncat > /dev/null\n{body.format(root=project.root)}")
    script.chmod(0o755)
    file = project.root / f".system/hooks/{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    handler = f"handler: {{kind: script, command: ./scripts/{name}.sh}}\n"
    file.write_text(f"id: {name}\nevent_type: {event}\nbackground: true\n{more}{handler}")
    project.trust()


PYTHON = """
import os, pathlib, time
import samuel

@samuel.hook("TurnEnd", background=True)
def late(event):
    root = pathlib.Path(event.project_root)
    (root / "began").write_text(str(os.getpid()))
    while not (root / "go").exists():
        time.sleep(0.02)
    (root / "done").touch()
"""


def declare(project: SamuelProject, how: str) -> dict[str, Any]:
    """Declare a handler in the background in one of the ways there are; what `open` needs for it."""
    root = project.root
    match how:
        case "yaml":
            yaml_hook(project, "TurnEnd")
        case "decorator":
            project.python_hook("late", PYTHON)
        case "samuel.toml":
            script = f'#!/bin/sh\n[ "$1" = hook ] && {{ echo TurnEnd; exit; }}\n{WAITS.format(root=root)}'
            project.hook("late", script)
            project.config('[hooks.TurnEnd]\nhandlers = [{ use = "late", background = true }]\n')
        case "embedded":

            @samuel.hook("TurnEnd", background=True)
            def late(event: Any) -> None:
                (root / "began").write_text(str(os.getpid()))
                until((root / "go").exists, "it was not let go")
                (root / "done").touch()

            return {"handlers": [late]}
    return {}


@pytest.mark.parametrize("how", ["yaml", "decorator", "samuel.toml", "embedded"])
def test_event_ends_before_its_handler_in_the_background(samuel_project: SamuelProject, how: str) -> None:
    options = declare(samuel_project, how)
    with samuel_project.open(**options) as app:
        fired = app.fire("TurnEnd", **TURN)
        assert (fired.ok, fired.calls, fired.background, fired.result) == (True, (), ("late",), {})
        until((samuel_project.root / "began").exists, "the handler was not started")
        assert not (samuel_project.root / "done").exists()
        (samuel_project.root / "go").touch()
        call = only_call(samuel_project)
    assert (call.event, call.handler, call.outcome, call.strict) == ("TurnEnd", "late", "ok", False)


def test_command_of_emit_ends_and_its_handler_goes_on(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "TurnEnd")
    done = subprocess.run(
        [sys.executable, "-m", "samuel", "emit", "TurnEnd"],
        cwd=samuel_project.root,
        input='{"response": "r", "turn_number": 1}',
        capture_output=True,  # ends only when no process holds the pipes any more
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
    pid = pid_of_handler(samuel_project)
    assert is_alive(pid)
    (samuel_project.root / "go").touch()
    assert only_call(samuel_project).outcome == "ok"
    until(lambda: not is_alive(pid), "the handler did not end")
    log = (samuel_project.root / ".system/logs/hooks.log").read_text()
    assert log.count('"hook":"late"') == 1


def test_handler_in_the_background_is_killed_at_its_deadline(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "TurnEnd", more="timeout: 500ms\n")
    with samuel_project.open() as app:
        app.fire("TurnEnd", **TURN)
        call = only_call(samuel_project)
        assert (call.outcome, call.message) == ("timed_out", "killed after 0.5s")
        until(lambda: not is_alive(pid_of_handler(samuel_project)), "the handler was left running")


@pytest.mark.parametrize("answer", ["exit 3", "echo nonsense", """echo '{{"ok": false, "reason": "no"}}'"""])
def test_fault_in_the_background_stops_nothing_and_is_told(samuel_project: SamuelProject, answer: str) -> None:
    yaml_hook(samuel_project, "TurnEnd", answer)
    samuel_project.config("[hooks.TurnEnd]\nstrict = true\n")
    with samuel_project.open() as app:
        assert app.fire("TurnEnd", **TURN).ok
        call = only_call(samuel_project)
        (ended,) = until(app.background.ended, "the fault is not told")
    assert call.outcome in ("crashed", "bad_output", "failed")
    assert (ended.handler, ended.event, ended.outcome) == ("late", "TurnEnd", call.outcome)


def test_handlers_in_the_background_see_what_the_others_made_of_the_event(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "PostAbilityCall", "", name="late")
    script = samuel_project.root / "scripts/late.sh"
    script.write_text(
        f"#!/bin/sh\ncat > {samuel_project.root}/payload.json.new\nmv payload.json.new payload.json\n"
    )
    samuel_project.trust()

    @samuel.hook("PostAbilityCall")
    def transform(event: Any) -> dict[str, Any]:
        return {"tool_output": {"text": "transformed"}}

    with samuel_project.open(handlers=[transform]) as app:
        fired = app.fire("PostAbilityCall", ability_id="a", status="success", tool_output={"text": "raw"})
        assert fired.result["tool_output"] == {"text": "transformed"}
        file = samuel_project.root / "payload.json"
        until(file.exists, "the handler did not run")
        assert '"transformed"' in file.read_text()


def test_untrusted_handler_in_the_background_is_refused_at_once(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "TurnEnd")
    with samuel_project.open() as app:
        (samuel_project.root / "scripts/late.sh").write_text("#!/bin/sh\n")
        fired = app.fire("TurnEnd", **TURN)
    assert [call.outcome for call in fired.calls] == ["refused"]
    assert fired.background == ()
    assert "not what was agreed to" in fired.warnings[0]


IN_RUN = """
import os, pathlib, signal, sys, time
from samuel.app import App

root = pathlib.Path(sys.argv[1])
app = App(root)
app.fire("TurnEnd", response="r", turn_number=1, run_id="run-1")
while not (root / "began").exists():
    time.sleep(0.02)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
app.close()
"""


@pytest.mark.parametrize("how", ["kill", "close"])
def test_nothing_is_left_of_a_run_that_ended_or_was_killed(samuel_project: SamuelProject, how: str) -> None:
    yaml_hook(samuel_project, "TurnEnd")
    subprocess.run([sys.executable, "-c", IN_RUN, str(samuel_project.root), how], timeout=120)
    pid = pid_of_handler(samuel_project)
    until(lambda: not is_alive(pid), "the handler outlived its run")
    call = only_call(samuel_project)
    assert (call.outcome, call.message) == ("timed_out", "killed: the run that it belonged to has ended")


def test_killed_supervisor_is_replaced_and_leaves_nothing(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "TurnEnd")
    with samuel_project.open() as app:
        app.fire("TurnEnd", **TURN, run_id="run-1")
        first = pid_of_handler(samuel_project)
        supervisor = int(Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(supervisor, signal.SIGKILL)
        until(lambda: has_ended(supervisor), "the supervisor did not end")
        (samuel_project.root / "began").unlink()
        app.fire("TurnEnd", **TURN, run_id="run-1")
        second = pid_of_handler(samuel_project)
        assert second != first
        until(lambda: not is_alive(first), "the handler of the killed supervisor was left")
        lost = only_call(samuel_project)
        assert (lost.outcome, lost.message) == ("crashed", "the process that ran it was killed")
    until(lambda: not is_alive(second), "the handler outlived its run")


TERMINATED_IN_START = """
import os, signal, sys
from samuel.background import supervisor

class Calls(supervisor.SupervisedCalls):
    def start(self, number, call):
        with self._lock:
            os.kill(os.getpid(), signal.SIGTERM)
        super().start(number, call)

supervisor.SupervisedCalls = Calls
supervisor.main(int(sys.argv[1]))
"""


@pytest.mark.parametrize("start", [START, TERMINATED_IN_START], ids=["while it waits", "while it holds a lock"])
def test_supervisor_that_is_told_to_end_kills_its_calls_and_records_them(
    samuel_project: SamuelProject, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.setattr("samuel.background.calls.START", start.replace("import os", f"{PATHS}import os"))
    yaml_hook(samuel_project, "TurnEnd")
    with samuel_project.open() as app:
        app.fire("TurnEnd", **TURN)
        if start is START:
            pid = pid_of_handler(samuel_project)
            os.kill(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGTERM)
        call = only_call(samuel_project)
    assert (call.outcome, call.message) == ("timed_out", "killed: the run that it belonged to has ended")


class TestRefusals:
    """A guard, a strict handler, a built-in and an event whose answer counts are waited for."""

    def handler(self, project: SamuelProject) -> Any:
        with project.open() as app:
            return next(handler for handler in app.handlers if handler.owner == "late")

    @pytest.mark.parametrize(
        ("event", "more", "why"),
        [
            ("PreAbilityCall", "", "the answer to `PreAbilityCall` counts"),
            ("SessionStop", "", "the answer to `SessionStop` counts"),
            ("quality.check", "", "the answer to `quality.check` counts"),
            ("PostAbilityCall", "role: guard\n", "a guard is waited for"),
            ("PostAbilityCall", "blocking: true\n", "a guard is waited for"),
            ("PostAbilityCall", "role: rewrite\n", "what a handler with the role `rewrite` returns counts"),
        ],
    )
    def test_yaml_hook_that_is_waited_for_is_refused_in_the_background(
        self, samuel_project: SamuelProject, event: str, more: str, why: str
    ) -> None:
        yaml_hook(samuel_project, event, more=more)
        handler = self.handler(samuel_project)
        assert handler.status is HandlerStatus.BROKEN
        assert why in handler.reason
        assert "leave `background` out" in handler.reason

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ("'PreAbilityCall'", "the answer to `PreAbilityCall` counts"),
            ("'TurnEnd', role='guard'", "a guard is waited for"),
            ("'TurnEnd', strict=True", "a strict handler is waited for"),
        ],
    )
    def test_decorator_of_a_handler_that_is_waited_for_is_refused_in_the_background(
        self, samuel_project: SamuelProject, arguments: str, why: str
    ) -> None:
        text = f"import samuel\n@samuel.hook({arguments}, background=True)\ndef late(event): ...\n"
        samuel_project.python_hook("late", text)
        handler = self.handler(samuel_project)
        assert handler.status is HandlerStatus.BROKEN
        assert why in handler.reason

    def test_function_of_a_program_that_is_waited_for_is_refused_in_the_background(
        self, samuel_project: SamuelProject
    ) -> None:
        @samuel.hook("PreAbilityCall", background=True)
        def late(event: Any) -> None: ...

        with pytest.raises(samuel.SamuelError, match="the answer to `PreAbilityCall` counts"):
            samuel_project.open(handlers=[late])

    @pytest.mark.parametrize(
        ("table", "why"),
        [
            (
                '["after:iteration"]\nhandlers = [{ use = "default", background = true }]',
                "the built-in handler is",
            ),
            (
                '["TurnEnd"]\nhandlers = [{ use = "late", background = true, strict = true }]',
                "a strict handler is",
            ),
            ('["SessionStart"]\nhandlers = [{ use = "late", background = true }]', "the answer to `SessionStart`"),
        ],
    )
    def test_samuel_toml_cannot_put_a_handler_that_is_waited_for_into_the_background(
        self, samuel_project: SamuelProject, table: str, why: str
    ) -> None:
        yaml_hook(samuel_project, "[TurnEnd, after:iteration]")
        text = (samuel_project.root / ".system/hooks/late.yaml").read_text()
        text = text.replace("[TurnEnd, after:iteration]", "[TurnEnd, SessionStart]").replace(
            "background: true\n", ""
        )
        (samuel_project.root / ".system/hooks/late.yaml").write_text(text)
        samuel_project.trust()
        section = table.replace('["', '[hooks."', 1)
        samuel_project.config(section)
        with pytest.raises(samuel.SamuelError, match=why):
            samuel_project.open()

    def test_manifest_that_binds_a_guard_in_the_background_is_refused(
        self, samuel_project: SamuelProject, tmp_path: Path
    ) -> None:
        source = tmp_path / "plugin"
        source.mkdir()
        manifest = 'name = "late"\nversion = "1.0.0"\nkind = "skill"\n[hooks]\n'
        manifest += 'PreAbilityCall = { handler = "x.sh", background = true }\n'
        (source / "samuel-plugin.toml").write_text(manifest)
        (source / "x.sh").write_text("#!/bin/sh\n")
        samuel_project.plugin(source, "org@late")
        with samuel_project.open() as app:
            reasons = [handler.reason for handler in app.handlers if handler.status is HandlerStatus.BROKEN]
        assert any("the answer to `PreAbilityCall` counts" in reason for reason in reasons)


def test_samuel_toml_can_have_a_handler_waited_for_that_declares_background(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "TurnEnd", """echo '{{"messages_to_user": ["hello"]}}'""")
    samuel_project.config('[hooks.TurnEnd]\nhandlers = [{ use = "late", background = false }]\n')
    assert samuel_project.fire("TurnEnd", **TURN).messages == ["hello"]


def test_serial_handler_in_the_background_waits_for_its_lock(samuel_project: SamuelProject) -> None:
    body = textwrap.dedent("""\
        mkdir {root}/alone || touch {root}/both
        sleep 0.1
        rmdir {root}/alone
        """)
    yaml_hook(samuel_project, "TurnEnd", body, more="serial: true\n")
    with samuel_project.open() as app:
        for _ in range(3):
            app.fire("TurnEnd", **TURN)
        until(lambda: len(calls(samuel_project)) == 3, "not all calls have ended")
    assert not (samuel_project.root / "both").exists()


def test_serial_function_in_the_background_never_runs_twice_at_once(samuel_project: SamuelProject) -> None:
    alone = threading.Lock()
    together: list[bool] = []

    @samuel.hook("TurnEnd", background=True, serial=True)
    def late(event: Any) -> None:
        together.append(not alone.acquire(blocking=False))
        time.sleep(0.1)
        if not together[-1]:
            alone.release()

    with samuel_project.open(handlers=[late]) as app:
        for _ in range(3):
            app.fire("TurnEnd", **TURN)
        until(lambda: len(calls(samuel_project)) == 3, "not all calls have ended")
    assert together == [False] * 3


def test_content_that_is_swapped_while_a_call_waits_for_its_lock_does_not_run(
    samuel_project: SamuelProject,
) -> None:
    yaml_hook(samuel_project, "TurnEnd", more="serial: true\ntimeout: 60s\n")
    root = samuel_project.root
    with samuel_project.open() as app:
        app.fire("TurnEnd", **TURN)
        pid_of_handler(samuel_project)
        app.fire("TurnEnd", **TURN)
        swapped = root / "swapped"
        swapped.write_text(f"#!/bin/sh\ntouch {root}/evil\n")
        swapped.chmod(0o755)
        swapped.replace(root / "scripts/late.sh")
        (root / "go").touch()
        ended = until(lambda: len(both := calls(samuel_project)) == 2 and both, "not all calls have ended")
    assert not (root / "evil").exists()
    # The file of the first one was another before it ended: what ran is not known.
    assert sorted((call.outcome, call.message) for call in ended) == [
        ("refused", CHANGED_BEFORE),
        ("refused", CHANGED),
    ]


def test_swapped_content_does_not_run_where_a_waiting_hook_is_waited_for(samuel_project: SamuelProject) -> None:
    """The same lock, without a background."""
    yaml_hook(samuel_project, "TurnEnd", "", more="serial: true\n")
    samuel_project.config('[hooks.TurnEnd]\nhandlers = [{ use = "late", background = false }]\n')
    root = samuel_project.root
    with samuel_project.open() as app:
        (handler,) = (handler for handler in app.handlers if handler.owner == "late")
        with ThreadPoolExecutor(1) as pool, held(app.handler_state.serial_lock(handler)):
            fired = pool.submit(app.fire, "TurnEnd", **TURN)
            until(lambda: waits_for_a_lock(os.getpid()), "the call does not wait for its lock")
            (root / "scripts/late.sh").write_text(f"#!/bin/sh\ntouch {root}/evil\n")
        assert [call.outcome for call in fired.result().calls] == ["refused"]
    assert not (root / "evil").exists()


def waits_for_a_lock(pid: int) -> bool:
    waiting = [line.split() for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(str(pid) in words for words in waiting)


def test_wait_of_a_serial_handler_for_its_lock_ends_at_its_timeout(samuel_project: SamuelProject) -> None:
    yaml_hook(samuel_project, "TurnEnd", "touch {root}/ran", more="serial: true\ntimeout: 300ms\n")
    with samuel_project.open() as app:
        (handler,) = (handler for handler in app.handlers if handler.owner == "late")
        with held(app.handler_state.serial_lock(handler)):
            app.fire("TurnEnd", **TURN)
            call = only_call(samuel_project)
    assert (call.outcome, call.message) == ("timed_out", "another call of it had not ended after 0.3s")
    assert not (samuel_project.root / "ran").exists()


def test_manifest_can_bind_a_handler_in_the_background(samuel_project: SamuelProject, tmp_path: Path) -> None:
    source = tmp_path / "plugin"
    source.mkdir()
    manifest = 'name = "late"\nversion = "1.0.0"\nkind = "skill"\n[hooks]\n'
    manifest += 'TurnEnd = { handler = "x.sh", background = true }\n'
    (source / "samuel-plugin.toml").write_text(manifest)
    (source / "x.sh").write_text("#!/bin/sh\ncat > /dev/null\n")
    (source / "x.sh").chmod(0o755)
    samuel_project.plugin(source, "org@late")
    with samuel_project.open() as app:
        assert app.fire("TurnEnd", **TURN).background == ("late/x.sh",)
        assert only_call(samuel_project).outcome == "ok"


def test_module_runs_in_the_background(samuel_project: SamuelProject, tmp_path: Path) -> None:
    wasmtime = pytest.importorskip("wasmtime")
    source = tmp_path / "plugin"
    source.mkdir()
    text = """(module (memory (export "memory") 2)
      (global $next (mut i32) (i32.const 4096))
      (func (export "samuel_alloc") (param $size i32) (result i32)
        (global.get $next) (global.set $next (i32.add (global.get $next) (local.get $size))))
      (func (export "samuel_protocol_version") (result i32) (i32.const 1))
      (func (export "turn") (param i32 i32) (result i64) (i64.const 0))
      (func (export "session") (param i32 i32) (result i64) (loop $again (br $again)) (i64.const 0)))"""
    (source / "plugin.wasm").write_bytes(wasmtime.wat2wasm(text))
    manifest = 'name = "late"\nversion = "1.0.0"\nkind = "wasm"\n[wasm]\nmodule = "plugin.wasm"\n[hooks]\n'
    manifest += 'TurnEnd = { handler = "turn", background = true }\n'
    manifest += 'SessionEnd = { handler = "session", background = true }\n'
    (source / "samuel-plugin.toml").write_text(manifest)
    samuel_project.plugin(source, "org@late")
    with samuel_project.open() as app:
        assert app.fire("TurnEnd", **TURN, run_id="run-1").background == ("late/turn",)
        assert only_call(samuel_project).outcome == "ok"
        app.fire("SessionEnd", run_id="run-1")  # a module that never ends, and is no process
    endless, ended = until(lambda: len(both := calls(samuel_project)) == 2 and both, "a call is not recorded")
    assert (endless.event, endless.outcome) == ("SessionEnd", "timed_out")
    assert ended.outcome == "ok"
