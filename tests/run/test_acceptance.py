"""What the loop promises, shown by whole runs: hooks that take part, crashes, memory and time."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.length import at_length

import samuel
from samuel.app import Machine
from samuel.attempt.stop import Stop
from samuel.base.clock import FakeClock
from samuel.files.atomic import Disk
from samuel.history.notices import IterationFailed, IterationSettled, LoopWarning, TaskFileUnreadable
from samuel.history.run_file import RunFile
from samuel.testing import Recorder

from .conftest import GOOD, LoopProject


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def warnings(loop: LoopProject) -> list[str]:
    return [report.text for report in loop.reports if isinstance(report, LoopWarning)]


class TestHooksInARun:
    """Hooks that take part in a whole run of the loop."""

    @pytest.mark.slow
    def test_samuel_toml_overrides_handler_order(self, loop: LoopProject) -> None:
        loop.configure("", '[hooks."context.task".order]\nlate = 50\n')
        loop.tasks("1")
        late = Recorder("context.task", name="late", order=150, returns={"toon_blob": "note: late"})
        loop.run(handlers=[late])
        prompt = (loop.root / "seen-1.md").read_text()
        assert prompt.index("note: late") < prompt.index("Task 1")

    def test_chainable_a_plugin_augments_the_default_without_replacing_it(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("context.progress")
        def more(event: Any) -> dict[str, Any]:
            return {"md_blob": f"{event.previous['md_blob']}\n## Mine\nremember the milk\n"}

        loop.run(handlers=[more])
        assert "remember the milk" in (loop.root / ".samuel/run/progress-context.md").read_text()
        assert "remember the milk" in (loop.root / "seen-1.md").read_text()

    def test_replace_style_the_last_handler_wins_with_a_warning(self, loop: LoopProject) -> None:
        loop.tasks("1")
        gates = [
            Recorder("iteration.gate", name=name, returns={"continue": True, "mode": "implementation"})
            for name in "ab"
        ]
        recorder = Recorder()
        loop.run(handlers=gates, sinks=[recorder])
        assert [len(gate.events) for gate in gates] == [0, 1]
        warnings = [warning for fired in recorder.fired for warning in fired.warnings]
        assert warnings == ["only the last handler of `iteration.gate` runs: `b` replaces `default`, `a`"]

    def test_strict_in_samuel_toml_aborts_the_iteration_on_any_error(self, loop: LoopProject) -> None:
        settings = "max_consecutive_failures = 2\nmax_task_attempts = 1"
        loop.configure(settings, '[hooks."after:agent.invoke"]\nstrict = true\n')
        loop.tasks("1", "2", "3")
        sick = Recorder("after:agent.invoke", name="sick", returns={"ok": False, "reason": "headache"})
        assert loop.run(handlers=[sick]).exit_reason == "consecutive_failures"
        assert outcomes(loop) == ["aborted", "aborted"]
        assert "headache" in loop.store.load()[0].last_failure

    def test_not_strict_logs_a_structured_warning_and_the_loop_goes_on(self, loop: LoopProject) -> None:
        loop.tasks("1")
        sick = Recorder("after:agent.invoke", name="sick", returns={"ok": False, "reason": "headache"})
        assert loop.run(handlers=[sick]).exit_reason == "queue_empty"
        line = "[hooks.warning] after:agent.invoke plugin=sick hook=sick failed: headache"
        assert loop.progress().count(line) == 1

    @pytest.mark.slow
    def test_a_plugin_reads_the_whole_context_and_the_template_its_namespace(self, loop: LoopProject) -> None:
        loop.configure("", "[guardrails]\nmax_file_lines = 300\n")
        loop.tasks("1")
        template = loop.root / ".samuel/templates/ralph/prompt.md.j2"
        template.parent.mkdir(parents=True)
        template.write_text("{{.Plugins.foo.bar}}, {{ Guardrails.max_file_lines }}, {{ Iteration.Max }}")
        foo = Recorder("context.extra", name="foo", returns={"data": {"bar": "a venv"}})
        loop.run(handlers=[foo])
        assert (loop.root / "seen-1.md").read_text() == "a venv, 300, 10"
        assert set(foo.events[0].context) == {
            *("Samuel", "Project", "Methodology", "Iteration", "Config", "Guardrails"),
            *("Paths", "State", "Mode", "Hooks", "Plugins"),
        }

    def test_two_extras_of_the_same_name_are_two_files(self, loop: LoopProject) -> None:
        loop.tasks("1")
        hooks = [
            Recorder(
                "context.extra", name=name, returns={"extras": [{"name": "notes.md", "content": f"of {name}"}]}
            )
            for name in ("a", "b", "c")
        ]
        loop.run(handlers=hooks)
        directory = loop.root / ".samuel/run/extra"
        assert {path.name: path.read_text() for path in directory.iterdir()} == {
            "notes.md": "of a",
            "notes-2.md": "of b",
            "notes-3.md": "of c",
        }

    def test_ten_plugins_on_context_extra_all_run_and_their_output_composes(self, loop: LoopProject) -> None:
        loop.tasks("1")
        ten = [
            Recorder(
                "context.extra", name=f"p{n}", returns={"extras": [{"name": f"p{n}.md", "content": f"from {n}"}]}
            )
            for n in range(10)
        ]
        loop.run(handlers=ten)
        prompt = (loop.root / "seen-1.md").read_text()
        places = [prompt.index(f"## p{n}.md\n\nfrom {n}\n") for n in range(10)]
        assert places == sorted(places)
        assert len(os.listdir(loop.root / ".samuel/run/extra")) == 10


class TestAgentTimeout:
    def test_agent_timeout_kills_the_agent_and_every_process_it_started(
        self, loop: LoopProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MARK", loop.root.as_posix())
        loop.configure('agent_timeout = "500ms"', "")
        (loop.root / "samuel.toml").write_text(
            (loop.root / "samuel.toml")
            .read_text()
            .replace('"{prompt_file}"]', '"{prompt_file}"]\nenv = ["MARK"]', 1)
        )
        loop.tasks("1")
        loop.agent("(setsid sleep 600 &) ; sleep 600 & echo halfway; wait\n")
        loop.run(1)
        assert outcomes(loop) == ["agent_failed"]
        assert "killed after 0.5s (agent_timeout)" in loop.store.load()[0].last_failure
        mark = f"MARK={loop.root}".encode()
        mine = Path(f"/proc/{os.getpid()}")
        left = [
            process
            for process in Path("/proc").glob("[0-9]*")
            if process != mine and mark in _environ(process).split(b"\0")
        ]
        assert left == []

    def test_max_duration_ends_the_run_between_two_iterations(self, loop: LoopProject) -> None:
        loop.configure('max_duration = "1h"')
        loop.tasks("1", "2", "3")
        clock = FakeClock()
        slow = Recorder("after:agent.invoke", returns=lambda event: clock.advance(2000))
        run = loop.run(handlers=[slow], clock=clock)
        assert (run.exit_reason, run.iterations_run) == ("budget", 2)


class TestPinned:
    @pytest.mark.slow
    def test_samuel_toml_edited_between_iterations_does_not_change_the_run(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["touch pinned-$(ls work-* | wc -l)"]')
        loop.tasks("1", "2", "3", "4")
        config = loop.root / "samuel.toml"

        @samuel.hook("after:iteration")
        def person(event: Any) -> None:
            if event.iteration == 1:
                config.write_text(config.read_text().replace("touch pinned", "touch weaker"))

        run = loop.run(handlers=[person])
        assert list(loop.root.glob("weaker-*")) == []
        # By an agent or not: what an agent is judged by changed, and that is said until a person looks.
        assert (outcomes(loop), run.exit_reason) == (
            ["completed", "aborted", "aborted", "aborted"],
            "consecutive_failures",
        )
        assert [path.name for path in loop.root.glob("seen-*")] == ["seen-1.md"]  # and no agent is paid for it
        assert loop.store.load()[1].attempts == 0

    def test_run_json_names_the_handlers_of_every_event(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.run(handlers=[Recorder("context.extra", name="mine")])
        run = RunFile(loop.root / ".samuel/run").load()
        assert run is not None
        assert [step["handler"] for step in run.pinned["chains"]["context.extra"]] == ["mine"]

    def test_a_task_marked_by_an_agent_that_then_fails_is_put_back(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent(
            "sed -i -e s/pending/completed/ -e s/in_progress/completed/ .samuel/run/prd.toon\necho x > y\nexit 1\n"
        )
        loop.run(1)
        assert (outcomes(loop), loop.statuses()) == (["agent_failed"], {"1": "pending", "2": "pending"})
        assert [task.attempts for task in loop.store.load()] == [1, 0]


class TestResuming:
    @pytest.mark.slow
    def test_handlers_get_the_same_idempotency_key_after_a_resume(self, loop: LoopProject) -> None:
        loop.tasks("1")
        events = "before:loop before:iteration context.extra after:iteration"
        keep = """grep -o '"idempotency_key":"[^"]*"' | cut -d'"' -f4 >> keys"""
        loop.project.hook("mine", f'#!/bin/sh\nif [ "$1" = hook ]; then echo {events}; else {keep}; fi\n')
        loop.agent(f"if [ ! -f killed ]; then touch killed; kill -9 $PPID; sleep 30; fi\n{GOOD}")
        command = [sys.executable, "-m", "samuel", "run", "start", "--yes"]
        codes = [subprocess.run(command, cwd=loop.root, capture_output=True).returncode for _ in range(2)]
        assert codes == [-9, 0]
        run = RunFile(loop.root / ".samuel/run").load()
        assert run is not None
        before = [
            f"{run.run_id}/0/before:loop/mine",
            f"{run.run_id}/1/before:iteration/mine",
            f"{run.run_id}/1/context.extra/mine",
        ]
        keys = (loop.root / "keys").read_text().split()
        assert keys == [*before, *before, f"{run.run_id}/1/after:iteration/mine"]

    def test_after_iteration_is_fired_again_with_the_same_key_after_a_kill(self, loop: LoopProject) -> None:
        loop.tasks("1")
        dies = Recorder("after:iteration", name="mine", returns=_raise(KeyboardInterrupt))
        loop.run(handlers=[dies])
        again = Recorder("after:iteration", name="mine")
        loop.run(handlers=[again])
        assert [event.idempotency_key for event in again.events] == [dies.events[0].idempotency_key]
        assert loop.progress().count("iteration 1 ") == 1
        assert loop.statuses() == {"1": "completed"}

    def test_an_error_makes_the_task_pending_again(self, loop: LoopProject) -> None:
        loop.tasks("1")
        last = Recorder("after:loop")
        with pytest.raises(OSError, match="no space"):
            loop.run(handlers=[last], sinks=[_Breaks("agent.invoke", OSError("no space left"))])
        assert loop.statuses() == {"1": "pending"}
        assert [event.exit_reason for event in last.events] == ["error"]
        assert loop.run().exit_reason == "queue_empty"


class TestTheTaskFile:
    def test_a_task_file_edited_by_hand_is_reloaded(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        prd = loop.root / ".samuel/run/prd.toon"

        @samuel.hook("after:iteration")
        def person(event: Any) -> None:
            prd.write_text(prd.read_text().replace("Task 2", "Something else"))

        loop.run(handlers=[person])
        assert "Something else" in (loop.root / "seen-2.md").read_text()

    def test_the_loop_waits_for_a_task_file_that_was_broken_between_iterations(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        prd = loop.root / ".samuel/run/prd.toon"

        @samuel.hook("before:iteration")
        def person(event: Any) -> None:
            if event.iteration == 1:
                prd.write_text(prd.read_text().replace("tasks[2]", "tasks[9]"))

        clock = _Mending(lambda: prd.write_text(prd.read_text().replace("tasks[9]", "tasks[2]")))
        run = loop.run(clock=clock, handlers=[person])
        (unreadable,) = (report for report in loop.reports if isinstance(report, TaskFileUnreadable))
        assert "the header counts 9 tasks, but the table has 2" in unreadable.why
        assert (run.exit_reason, outcomes(loop)) == ("queue_empty", ["completed", "completed"])

    def test_a_stop_while_the_loop_waits_for_the_task_file_loses_nothing(self, loop: LoopProject) -> None:
        """Not even what was decided and could not be written down."""
        loop.tasks("1")
        prd = loop.root / ".samuel/run/prd.toon"
        stop = Stop()
        whole: list[str] = []

        class Breaking(Disk):
            """Breaks the task file as soon as the settlement is saved."""

            def replace(self, old: str, new: str, directory: int) -> None:
                super().replace(old, new, directory)
                run = loop.root / ".samuel/run/run.json"
                if not whole and new == run.name and run.exists() and b'"settlement":{' in run.read_bytes():
                    whole.append(prd.read_text())
                    prd.write_text("broken")

        def wish() -> None:
            stop.requested = True

        clock = _Mending(wish)
        machine = Machine(user=loop.project.user, clock=clock, disk=Breaking())
        run = loop.run(machine=machine, stop=stop)
        assert (run.exit_reason, prd.read_text()) == ("interrupted", "broken")
        prd.write_text(whole[0])
        assert loop.run().exit_reason == "queue_empty"
        assert loop.statuses() == {"1": "completed"}

    @pytest.mark.slow
    def test_a_hundred_commands_at_once_inside_a_run_lose_no_change(self, loop: LoopProject) -> None:
        loop.tasks("1")
        # Real processes and real locks; forked, because a hundred interpreters take their time to start.
        (loop.root / "agent.py").write_text(
            "import os\n"
            "import samuel.cli.run.done, samuel.cli.run.enqueue\n"
            "from samuel.cli.edge import run\n"
            "open('work.txt', 'w').close()\n"
            "children = []\n"
            "for number in range(100):\n"
            "    pid = os.fork()\n"
            "    if not pid:\n"
            "        done = ['run', 'done', os.environ['SAMUEL_TASK_ID']]\n"
            "        code = run(done if number % 2 else ['run', 'enqueue', f'found {number}'])\n"
            "        os._exit(code)\n"
            "    children.append(pid)\n"
            "assert not any(os.waitpid(pid, 0)[1] for pid in children)\n"
        )
        loop.agent(f"exec {sys.executable} agent.py > /dev/null\n")
        loop.run(1)
        assert outcomes(loop) == ["completed"]
        tasks = loop.store.load()
        assert {task.title for task in tasks[1:]} == {f"found {number}" for number in range(0, 100, 2)}
        assert (tasks[0].status, len({task.id for task in tasks})) == ("completed", 51)


class TestGit:
    def log(self, root: Path) -> list[str]:
        git_log = subprocess.run(
            ["git", "log", "--format=%s", "--name-only", "--no-renames"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        return [line for line in git_log.stdout.splitlines() if line]

    def begin(self, loop: LoopProject, *ids: str, settings: str = "commit = true") -> None:
        loop.configure(settings)
        subprocess.run(["git", "commit", "-qam", "config"], cwd=loop.root, check=True)
        loop.tasks(*ids)

    def dirty(self, loop: LoopProject) -> str:
        return subprocess.run(["git", "status", "-s"], cwd=loop.root, capture_output=True, text=True).stdout

    @pytest.mark.slow
    def test_changes_of_earlier_attempts_are_part_of_the_commit(self, loop: LoopProject) -> None:
        """The commit is the tree that the checks passed on."""
        loop.agent(
            "if [ $SAMUEL_ATTEMPT = 1 ]; then touch first junk; else rm junk; touch good; fi\n"
            "samuel run done $SAMUEL_TASK_ID\n"
        )
        self.begin(loop, "1", settings='commit = true\nquality_checks = ["test ! -f junk"]')
        loop.run()
        assert outcomes(loop) == ["quality_failed", "completed"]
        assert self.log(loop.root)[:3] == ["1 Task 1", "first", "good"]
        assert self.dirty(loop) == ""

    @pytest.mark.slow
    def test_an_agent_may_commit_its_work_itself(self, loop: LoopProject) -> None:
        commit = 'git add -A; git commit -qm "by hand"; samuel run done 1 --commit $(git rev-parse HEAD)\n'
        loop.agent(f"if [ $SAMUEL_TASK_ID = 1 ]; then touch mine; {commit}else\n{GOOD}fi\n")
        self.begin(loop, "1", "2")
        loop.run()
        assert warnings(loop) == []
        assert [line for line in self.log(loop.root) if not line.startswith("work")][:3] == [
            "2 Task 2",
            "by hand",
            "mine",
        ]
        assert all(len(task.commit_sha) == 40 for task in loop.store.load())

    @pytest.mark.slow
    def test_work_on_a_file_that_the_first_checks_formatted_is_committed(self, loop: LoopProject) -> None:
        (loop.root / "code").write_text("line   \n")
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        loop.agent("echo more >> code\n" + GOOD)
        self.begin(loop, "1", settings="commit = true\nquality_checks = [\"sed -i 's/ *$//' code\"]")
        loop.run()
        assert warnings(loop) == []
        assert "code" in self.log(loop.root)
        assert " M code" not in self.dirty(loop)

    def test_removed_files_and_unusual_file_names_are_committed(self, loop: LoopProject) -> None:
        loop.agent("git rm -q staged; rm removed; touch -- '*' ':(top)x' -n; echo x >> mine\n" + GOOD)
        for name in ("staged", "removed", "mine"):
            (loop.root / name).touch()
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        self.begin(loop, "1")
        (loop.root / "mine").write_text("dirty before\n")
        Path(os.fsdecode(os.fsencode(loop.root) + b"/\xff")).touch()
        loop.run()
        (warning,) = warnings(loop)
        assert warning.startswith("the agent changed what you had changed before the run; ")
        assert ": `mine`; `git restore --source=refs/samuel/run-" in warning
        assert self.log(loop.root)[:7] == ["1 Task 1", "*", "-n", ":(top)x", "removed", "staged", "work-1.txt"]
        assert self.dirty(loop).splitlines()[0] == " M mine"

    def test_a_project_below_the_top_of_its_repository_is_committed(self, loop: LoopProject) -> None:
        self.begin(loop, "1")
        below = loop.root / "below"
        below.mkdir()
        for name in ("samuel.toml", "agent.sh", ".samuel"):
            os.rename(loop.root / name, below / name)
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        subprocess.run(["git", "commit", "-qm", "moved"], cwd=loop.root, check=True)
        loop.root = loop.project.root = below
        loop.run()
        assert warnings(loop) == []
        assert "below/work-1.txt" in self.log(loop.root)
        assert outcomes(loop) == ["completed"]

    def test_a_repository_without_a_commit_gets_its_first_one(self, loop: LoopProject) -> None:
        self.begin(loop, "1")
        subprocess.run(["git", "update-ref", "-d", "HEAD"], cwd=loop.root, check=True)
        loop.run()
        assert warnings(loop) == []
        assert self.log(loop.root) == ["1 Task 1", "work-1.txt"]


class TestThePrompt:
    @pytest.mark.slow
    def test_a_template_without_an_end_aborts_the_iteration_and_is_named(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.configure("max_consecutive_failures = 1")
        template = loop.root / ".samuel/templates/ralph/prompt.md.j2"
        template.parent.mkdir(parents=True)
        loops = "".join(f"{{% for {name} in range(99999) %}}" for name in "abcd") + "{% endfor %}" * 4
        template.write_text(loops)
        loop.run()
        assert outcomes(loop) == ["aborted"]
        (why,) = (report.why for report in loop.reports if isinstance(report, IterationFailed))
        assert f"{template}: takes more than 5 seconds of computing to render" in why

    @pytest.mark.slow
    def test_a_template_with_a_mistake_starts_no_agent(self, loop: LoopProject) -> None:
        loop.tasks("1")
        template = loop.root / ".samuel/templates/ralph/prompt.md.j2"
        template.parent.mkdir(parents=True)
        template.write_text("one\n{{ Nonesuch }}\n")
        assert loop.run().exit_reason == "consecutive_failures"
        assert outcomes(loop) == ["aborted"] * 3
        assert "prompt.md.j2:2: 'Nonesuch' is undefined" in loop.store.load()[0].last_failure
        assert not (loop.root / "seen-1.md").exists()

    @pytest.mark.slow
    def test_the_context_of_an_iteration_stays_below_5_kb_for_a_mid_sized_repository(
        self, loop: LoopProject
    ) -> None:
        for package in range(30):
            directory = loop.root / f"src/application/package_number_{package}"
            directory.mkdir(parents=True)
            for number in range(50):
                body = f"# TODO: number {number}\n" * (number % 3) + "x = 1\n" * number
                (directory / f"module_with_a_long_name_{number}.py").write_text(body)
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        subprocess.run(["git", "commit", "-qm", "1500 files"], cwd=loop.root, check=True)
        loop.configure('quality_checks = ["cat src/*/*/*_1.py; test -z $SAMUEL_TASK_ID"]\nmax_task_attempts = 2')
        loop.tasks(*(f"1.{number}" for number in range(1, 61)), description="What is to be done. " * 20)
        loop.run(6)
        state = loop.root / ".samuel/run"
        sizes = {
            name: (state / name).stat().st_size
            for name in ("project-snapshot.toon", "progress-context.md", "task-context.toon")
        }
        assert 1000 < sum(sizes.values()) < 5 * 1024, sizes
        assert "  files: 1504\n" in (state / "project-snapshot.toon").read_text()


class TestUsage:
    def test_usage_is_summed_over_the_run(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")

        @samuel.hook("agent.invoke")
        def agent(event: Any) -> dict[str, Any]:
            (loop.root / f"work-{event.iteration}").touch()
            usage = {"input_tokens": 10 * event.iteration, "cost_usd": 0.5, "model": f"m{event.iteration}"}
            return {"exit_code": 0, "stdout": "", "stderr": "", "usage": usage}

        last = Recorder("after:loop")
        run = loop.run(2, handlers=[agent, last])
        assert run.usage == {"input_tokens": 30, "cost_usd": 1.0, "model": "m2"}
        assert last.events[0].usage == run.usage


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_iterations(loop: LoopProject) -> None:
    """A benchmark does the same over 1,000 iterations."""
    step = at_length(20, 50)
    loop.configure("max_task_attempts = 9999\nmax_consecutive_failures = 9999")
    loop.tasks("1")
    shutil.rmtree(loop.root / ".git")  # git's processes are not ours, and take most of the time
    sizes: list[int] = []

    @samuel.hook("agent.invoke")
    def agent(event: Any) -> dict[str, Any]:
        (loop.root / "work").write_text(str(event.iteration))
        if event.iteration % step == 0:
            gc.collect()
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            sizes.append(pages * os.sysconf("SC_PAGE_SIZE"))
        return {"exit_code": 0, "stdout": "x" * 1000, "stderr": ""}

    brief = Recorder("context.snapshot", order=100, returns=lambda event: brief.events.clear())
    with loop.project.open(trust_everything=True, handlers=[agent, brief]) as app:
        app.loop(Stop()).run(4 * step, ["mine"])
    assert sizes[3] - sizes[1] < 2 * 1024 * 1024, sizes


class _Mending(FakeClock):
    """Does something when the loop sleeps, as a person would meanwhile."""

    def __init__(self, mend: Any) -> None:
        super().__init__()
        self._mend = mend

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if seconds:
            self._mend()


class _Breaks:
    """A sink that fails at one event: the dispatcher does not catch that, so it is like a bug or a full disk."""

    def __init__(self, event: str, error: Exception) -> None:
        self._event = event
        self._error = error

    def begin(self, event: Any) -> None:
        if event.__struct_config__.tag == self._event:
            raise self._error

    def called(self, event: Any, call: Any) -> None:
        pass

    def end(self, event: Any, fired: Any, duration_ms: float) -> None:
        pass


def _raise(error: type[BaseException]) -> Any:
    def act(*_: Any) -> None:
        raise error

    return act


def _environ(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""
