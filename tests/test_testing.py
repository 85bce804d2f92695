"""`samuel.testing`, as the author of a hook uses it: their tests, run by a pytest of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import samuel
from samuel.base.errors import UsageError
from samuel.hooks.handler import Outcome
from samuel.testing import FakeClock, Recorder, SamuelProject, fire

AUTHORS_HOOKS = """
import samuel

@samuel.hook("context.extra", order=150)
def python_facts(event):
    return {"extras": [{"name": "python.md", "content": event.task["id"]}], "data": {"Venv": ".venv"}}

@samuel.hook("PreAbilityCall", role="guard")
def no_rm(event):
    if "rm" in event.tool_input["command"]:
        return {"decision": "deny", "reason": "no rm"}
"""

AUTHORS_TESTS = '''
import os
from pathlib import Path

import pytest
from samuel.testing import FakeClock, Recorder, fire
import my_hooks

HOOKS = Path(my_hooks.__file__).read_text()

def test_one_function_alone():
    fired = fire(my_hooks.python_facts, "context.extra", task={"id": "7"})
    assert fired.ok
    assert fired.result == {"extras": [{"name": "python.md", "content": "7"}]}
    assert fired.context["Plugins"] == {"python_facts": {"Venv": ".venv"}}

def test_a_verdict():
    assert fire(my_hooks.no_rm, "pre_ability_call", ability_id="sh", tool_input={"command": "rm"}).denied
    assert not fire(my_hooks.no_rm, "pre_ability_call", ability_id="sh", tool_input={"command": "ls"}).denied

def test_in_a_project(samuel_project):
    samuel_project.python_hook("mine", HOOKS)
    fired = samuel_project.fire("PreAbilityCall", ability_id="sh", tool_input={"command": "rm"})
    assert (fired.denied, fired.reason) == (True, "no rm")

def test_an_executable(samuel_project):
    samuel_project.hook("tool", """\\
        #!/bin/sh
        if [ "$1" = hook ]; then echo context.extra; exit; fi
        echo '{"extras": [{"name": "a", "content": "b"}]}'
        """)
    assert samuel_project.fire("context.extra", task={}).result["extras"][0]["content"] == "b"

def test_what_others_see(samuel_project):
    seen = Recorder("context.extra", order=300)
    samuel_project.python_hook("mine", HOOKS)
    with samuel_project.open(handlers=[seen], sinks=[seen], clock=FakeClock()) as app:
        app.fire("context.extra", task={"id": "1"})
    assert seen.events[0].context["Plugins"]["mine"] == {"Venv": ".venv"}
    assert [call.handler.name for call in seen.calls] == ["mine:python_facts", "recorder"]
    assert seen.fired[0].event.event_id == "evt-1"

def test_nothing_of_mine_is_touched(samuel_project, tmp_path):
    assert Path.home() == samuel_project.user.home
    assert samuel_project.root.is_relative_to(tmp_path)
    assert "SAMUEL_TRUST" not in os.environ

def test_that_fails(samuel_project):
    assert samuel_project.fire("quality.check", commands=["false"]).ok
'''


@pytest.mark.slow
def test_the_authors_tests_run_with_nothing_but_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "my_hooks.py").write_text(AUTHORS_HOOKS)
    (tmp_path / "test_my_hooks.py").write_text(AUTHORS_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--basetemp=base"],
        cwd=tmp_path,
        env={**os.environ, "SAMUEL_TRUST": "all", "HOME": str(tmp_path / "my own home")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "1 failed, 6 passed" in done.stdout, done.stdout
    assert "test_that_fails" in done.stdout
    assert not (tmp_path / "my own home").exists()


class TestFire:
    def test_whatever_it_raises_becomes_an_outcome(self) -> None:
        @samuel.hook("quality.check")
        def broken(event: object) -> None:
            raise RuntimeError("why")

        fired = fire(broken, "quality.check", commands=[])
        assert fired.calls[0].outcome is Outcome.CRASHED
        assert fired.stopped  # quality.check is strict

    def test_a_wrong_shape_too(self) -> None:
        assert fire(Recorder("context.extra", returns={"extras": 1}), "context.extra", task={}).calls[
            0
        ].outcome is (Outcome.BAD_OUTPUT)

    def test_it_takes_a_payload_too(self) -> None:
        recorder = Recorder("context.extra")
        fire(recorder, samuel.events.ContextExtra(task={"id": "9"}))
        assert recorder.events[0].task == {"id": "9"}

    def test_a_function_of_several_events_answers_to_each(self) -> None:
        recorder = Recorder("context.extra", "TurnEnd")
        assert len(fire(recorder, "context.extra", task={}).calls) == 1
        assert len(fire(recorder, "TurnEnd", response="", turn_number=1).calls) == 1

    def test_a_function_of_another_event_or_without_the_mark_is_refused(self) -> None:
        with pytest.raises(UsageError, match="does not handle `TurnEnd`"):
            fire(Recorder("context.extra", name="f"), "TurnEnd", response="", turn_number=1)
        with pytest.raises(UsageError, match=r"samuel\.hook"):
            fire(print, "context.extra", task={})

    def test_wrong_fields_are_said(self) -> None:
        with pytest.raises(UsageError, match="tusk"):
            fire(Recorder("context.extra"), "context.extra", tusk={})


class TestProject:
    @pytest.mark.slow
    def test_it_closes_what_the_test_left_open(self, tmp_path: Path) -> None:
        project = SamuelProject(tmp_path)
        project.python_hook(
            "a", "import os, samuel\n@samuel.hook('TurnEnd')\ndef a(e): return {'pid': os.getpid()}\n"
        )
        pid = project.open().fire("TurnEnd", response="", turn_number=1).result["pid"]
        assert Path(f"/proc/{pid}").exists()
        project.close()
        assert not Path(f"/proc/{pid}").exists()

    def test_a_hook_that_changes_without_the_fixture_is_not_trusted(self, samuel_project: SamuelProject) -> None:
        file = samuel_project.hook("a", "#!/bin/sh\nif [ $1 = hook ]; then echo TurnEnd; fi\n")
        samuel_project.fire("TurnEnd", response="", turn_number=1)
        file.write_text(file.read_text() + "\n")
        fired = samuel_project.fire("TurnEnd", response="", turn_number=1)
        assert fired.calls[0].outcome is Outcome.REFUSED


def test_the_fake_clock_moves_only_when_told_to() -> None:
    clock = FakeClock(100.0)
    assert (clock.now(), clock.monotonic()) == (100.0, 100.0)
    clock.sleep(5)
    clock.advance(1)
    assert (clock.now(), clock.slept) == (106.0, [5])
    assert [clock.new_id("evt"), clock.new_id("run")] == ["evt-1", "run-2"]
