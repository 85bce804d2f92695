"""The loop over real agent processes: what comes of each kind of iteration, and what no handler can change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import samuel
from samuel.attempt.stop import Stop
from samuel.base.errors import Locked
from samuel.events import names
from samuel.files.lock import held
from samuel.history.notices import IterationSettled, Report, TaskFileUnreadable
from samuel.history.run_file import RunFile
from samuel.tasks.task import Task
from samuel.testing import Recorder

from .conftest import GOOD, LoopProject


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


class TestToDone:
    @pytest.mark.slow
    def test_every_task_is_worked_by_a_fresh_agent_and_completed(self, loop: LoopProject) -> None:
        loop.tasks("1", "2", "10")
        run = loop.run()
        assert (run.exit_reason, run.iterations_run) == ("queue_empty", 3)
        assert loop.statuses() == {"1": "completed", "2": "completed", "10": "completed"}
        assert [(loop.root / f"work-{id}.txt").exists() for id in ("1", "2", "10")] == [True] * 3
        assert [task.iteration for task in loop.store.load()] == [1, 2, 3]

    def test_files_that_people_read_hold_no_escape_sequences(self, loop: LoopProject) -> None:
        """Titles come from a PRD, reasons from an agent; both may hold what a terminal acts on."""
        evil = "\x1b]52;c;ZXZpbA==\x07"
        loop.store.replace_all([Task(id="1", title=f"One {evil}"), Task(id="2", title=f"Two {evil}")])
        block = f"samuel run block 2 --reason '{evil}'"
        loop.agent(f'if [ "$SAMUEL_TASK_ID" = 2 ]; then {block}; else\n{GOOD}fi\n')
        loop.run()
        assert loop.statuses() == {"1": "completed", "2": "blocked"}
        for name in ("progress.md", "summary.md"):
            text = (loop.root / ".samuel/run" / name).read_text()
            assert "\x1b" not in text
            assert r"\x1b]52;c;ZXZpbA==\x07" in text

    def test_a_run_ends_with_a_summary_file(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.run()
        summary = (loop.root / ".samuel/run/summary.md").read_text()
        assert "- ended: queue_empty\n- iterations: 1\n- completed: 1\n" in summary

    def test_all_13_loop_events_and_the_session_fire_in_order(self, loop: LoopProject) -> None:
        loop.tasks("1")
        recorder = Recorder(*names.LOOP, *names.SESSION, returns=_harmless)
        loop.run(sinks=[recorder])
        fired = [fired.event.__struct_config__.tag for fired in recorder.fired]
        assert fired == [
            *("before:loop", "before:iteration", "iteration.gate"),
            *("context.snapshot", "context.progress", "context.task", "context.extra", "before:agent.invoke"),
            *("SessionStart", "UserPromptSubmit", "agent.invoke", "TurnEnd", "SessionStop", "SessionEnd"),
            *("after:agent.invoke", "quality.check", "after:iteration", "after:loop"),
        ]

    @pytest.mark.slow
    def test_a_claim_alone_completes_nothing(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f wrong"]\nmax_task_attempts = 2\nmax_consecutive_failures = 9')
        loop.tasks("1")
        loop.agent(GOOD + 'if [ "$SAMUEL_ATTEMPT" = 2 ]; then rm wrong; else touch wrong; fi\n')
        run = loop.run()
        assert outcomes(loop) == ["quality_failed", "completed"]
        assert run.exit_reason == "queue_empty"

    @pytest.mark.slow
    def test_the_failure_is_in_the_next_prompt(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f work-1.txt || { cat said; false; }"]')
        (loop.root / "said").write_text("the-reason-why\n")
        loop.tasks("1")
        loop.run()
        assert "the-reason-why" not in (loop.root / "seen-1.md").read_text()
        assert "the-reason-why" in (loop.root / "seen-2.md").read_text()

    @pytest.mark.slow
    def test_a_task_is_blocked_after_three_attempts_and_the_loop_goes_on(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f work-1.txt"]\nmax_consecutive_failures = 9')
        loop.tasks("1", "2")
        run = loop.run()
        assert outcomes(loop) == ["quality_failed", "quality_failed", "quality_failed", "completed"]
        assert loop.statuses() == {"1": "blocked", "2": "completed"}
        assert run.exit_reason == "tasks_blocked"

    def test_a_failing_agent_skips_the_checks(self, loop: LoopProject) -> None:
        loop.configure('evidence = "in place"\nquality_checks = ["echo x >> seen-checks"]')
        loop.tasks("1")
        loop.agent("echo broken >&2\nexit 7\n")
        run = loop.run()
        assert outcomes(loop) == ["agent_failed"] * 3
        assert run.exit_reason in ("consecutive_failures", "tasks_blocked")
        assert (loop.root / "seen-checks").read_text() == "x\n"  # before the first agent
        assert loop.store.load()[0].last_failure == "agent_failed: broken"

    def test_an_iteration_that_changes_nothing_is_stalled(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.agent("exit 0\n")
        loop.run(1)
        assert outcomes(loop) == ["stalled"]

    def test_work_without_a_claim_is_incomplete(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.agent("echo x >> something\n")
        loop.run(1)
        assert outcomes(loop) == ["incomplete"]
        assert loop.statuses() == {"1": "pending"}

    @pytest.mark.slow
    def test_a_task_that_the_agent_skips_with_a_reason_is_not_a_failure(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent(
            'if [ "$SAMUEL_TASK_ID" = 1 ]; then samuel run skip 1 --reason "not needed"; else\n' + GOOD + "fi\n"
        )
        run = loop.run()
        assert run.exit_reason == "queue_empty"
        assert loop.statuses() == {"1": "skipped", "2": "completed"}

    def test_an_agent_cannot_claim_another_task(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent("samuel run done 2 > said.txt 2>&1 || true\n" + GOOD)
        loop.run(1)
        assert "the current task is `1`" in (loop.root / "said.txt").read_text()


class TestTampering:
    @pytest.mark.parametrize("file", ["samuel.toml", ".samuel/hooks/new", ".system/hooks/x.yaml"])
    def test_an_iteration_is_aborted_if_a_protected_file_changes(self, loop: LoopProject, file: str) -> None:
        loop.tasks("1")
        loop.agent(f"mkdir -p .samuel/hooks .system/hooks; echo '# changed' >> {file}\n" + GOOD)
        loop.run(1)
        assert outcomes(loop) == ["aborted"]
        assert loop.statuses() == {"1": "pending"}
        assert f"`{file}` changed during the run" in loop.store.load()[0].last_failure

    def test_no_check_runs_after_an_agent_that_changed_the_rules(self, loop: LoopProject) -> None:
        checked = loop.root.parent / "checked"
        loop.configure(f'quality_checks = ["test ! -f work-1.txt || touch {checked}"]')
        loop.tasks("1")
        loop.agent("echo '# changed' >> samuel.toml\n" + GOOD)
        loop.run(1)
        assert outcomes(loop) == ["aborted"]
        assert not checked.exists()

    def test_the_pinned_checks_are_the_ones_that_run(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f work-1.txt"]')
        loop.tasks("1")
        loop.agent("sed -i 's/test ! -f work-1.txt/true/' samuel.toml\n" + GOOD)
        loop.run(2)
        assert outcomes(loop) == ["aborted", "aborted"]
        assert loop.statuses() == {"1": "pending"}

    def test_a_task_marked_by_hand_is_put_back(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f y"]')
        loop.tasks("1", "2")
        loop.agent("sed -i -e s/pending/completed/ -e s/in_progress/completed/ .samuel/run/prd.toon\necho x > y\n")
        loop.run(1)
        assert outcomes(loop) == ["quality_failed"]
        assert loop.statuses() == {"1": "pending", "2": "pending"}


class TestHandlersTakePart:
    def test_below_and_above_the_default_both_reach_the_agents_prompt(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("context.task", order=50)
        def before(event: Any) -> dict[str, Any]:
            return {"toon_blob": "note: from fifty"}

        @samuel.hook("context.task", order=150)
        def after(event: Any) -> dict[str, Any]:
            return {"toon_blob": event.previous["toon_blob"] + "\nnote: from one-fifty"}

        loop.run(handlers=[before, after])
        prompt = (loop.root / "seen-1.md").read_text()
        assert prompt.index("from fifty") < prompt.index("Task 1") < prompt.index("from one-fifty")

    def test_env_and_prompt_reach_the_real_child(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("before:agent.invoke")
        def change(event: Any) -> dict[str, Any]:
            return {"prompt": event.prompt + "\nADDED", "env": {"MINE": "yes", "SAMUEL_TASK_ID": "forged"}}

        loop.run(handlers=[change])
        assert (loop.root / "seen-1.md").read_text().endswith("ADDED")
        environment = (loop.root / "env-1.txt").read_text()
        assert "MINE=yes" in environment
        assert "SAMUEL_TASK_ID=1\n" in environment  # the run's own names are not a handler's to change

    def test_only_the_handler_that_replaces_agent_invoke_runs(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("agent.invoke")
        def mine(event: Any) -> dict[str, Any]:
            (loop.root / "mine.txt").write_text(event.prompt)
            return {"exit_code": 0, "stdout": "", "stderr": ""}

        loop.run(1, handlers=[mine])
        assert (loop.root / "mine.txt").exists()
        assert not (loop.root / "seen-1.md").exists()

    def test_no_other_agent_runs_when_a_handler_of_agent_invoke_crashes(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("agent.invoke")
        def broken(event: Any) -> dict[str, Any]:
            raise RuntimeError("no")

        loop.run(1, handlers=[broken])
        assert outcomes(loop) == ["agent_failed"]
        assert not (loop.root / "seen-1.md").exists()

    def test_warnings_and_timings_are_in_progress_md(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("context.extra")
        def broken(event: Any) -> dict[str, Any]:
            raise RuntimeError("oh no")

        run = loop.run(handlers=[broken])
        assert run.exit_reason == "queue_empty"
        assert (
            "[hooks.warning] context.extra plugin=broken hook=broken crashed: RuntimeError: oh no"
            in loop.progress()
        )
        assert "[hooks.timing] context.extra broken" in loop.progress()

    def test_a_strict_failure_aborts_the_iteration_and_counts_as_a_failure(self, loop: LoopProject) -> None:
        loop.tasks("1")

        @samuel.hook("context.extra", strict=True)
        def broken(event: Any) -> dict[str, Any]:
            raise RuntimeError("oh no")

        run = loop.run(handlers=[broken])
        assert (run.exit_reason, outcomes(loop)) == ("consecutive_failures", ["aborted"] * 3)
        assert loop.store.load()[0].attempts == 0  # no agent ran, so it says nothing about the task

    @pytest.mark.parametrize(
        ("event", "reason"), [("before:loop", "strict_failure"), ("iteration.gate", "strict_failure")]
    )
    def test_a_failure_of_a_strict_loop_event_ends_the_run(
        self, loop: LoopProject, event: str, reason: str
    ) -> None:
        loop.tasks("1")

        @samuel.hook(event)
        def broken(event: Any) -> dict[str, Any]:
            raise RuntimeError("oh no")

        recorder = Recorder("after:loop")
        run = loop.run(handlers=[broken, recorder])
        assert run.exit_reason == reason
        assert [event.exit_reason for event in recorder.events] == [reason]
        assert loop.statuses() == {"1": "pending"}

    def test_the_gate_can_end_the_run(self, loop: LoopProject) -> None:
        loop.tasks("1")
        gate = Recorder(
            "iteration.gate", returns={"continue": False, "mode": "implementation", "reason": "enough"}
        )
        run = loop.run(handlers=[gate])
        assert (run.exit_reason, run.iterations_run) == ("gate_stop", 0)
        assert loop.statuses() == {"1": "pending"}

    def test_max_iterations_holds_although_the_gate_always_continues(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.configure("max_task_attempts = 99\nmax_consecutive_failures = 99")
        loop.agent("echo x >> file\n")
        gate = Recorder("iteration.gate", returns={"continue": True, "mode": "implementation"})
        run = loop.run(4, handlers=[gate])
        assert (run.exit_reason, run.iterations_run) == ("max_iterations", 4)

    def test_data_of_before_loop_lasts_for_the_run(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        start = Recorder("before:loop", name="start", returns={"data": {"Kept": "kept"}})
        once = Recorder(
            "context.extra",
            name="once",
            returns=lambda e: {"data": {"N": e.iteration}} if e.iteration == 1 else {},
        )
        last = Recorder("after:iteration", name="last")
        loop.run(handlers=[start, once, last])
        assert [event.context["Plugins"] for event in last.events] == [
            {"start": {"Kept": "kept"}, "once": {"N": 1}},
            {"start": {"Kept": "kept"}},
        ]

    @pytest.mark.slow
    def test_the_invariants_hold_without_any_built_in_handler(self, loop: LoopProject) -> None:
        """Overrides for all 13 events: effectively another methodology, without forking the loop."""
        order = "".join(f'[hooks."{event}"]\nhandlers = ["own"]\n' for event in names.LOOP)
        loop.configure('quality_checks = ["true"]', order)
        loop.tasks("1", "2", "3")

        def own(event: Any) -> dict[str, Any]:
            name = event.__struct_config__.tag
            if name == "iteration.gate":
                with pytest.raises(Locked), held(loop.root / ".samuel/run/run.lock"):
                    pass
                return {"continue": True, "mode": "implementation"}
            if name == "before:agent.invoke":
                return {"prompt": f"do task {event.context['State']['RunId']}"}
            if name == "agent.invoke":
                done = subprocess.run(["sh", "agent.sh", "/dev/null"], cwd=loop.root, env=_environment(event))
                return {"exit_code": done.returncode, "stdout": "", "stderr": ""}
            if name == "quality.check":
                return {"ok": event.iteration != 2, "failures": []}
            return {}

        own.__name__ = "own"
        recorder = Recorder()
        run = loop.run(3, handlers=[samuel.hook(*names.LOOP)(own)], sinks=[recorder])
        assert {call.handler.name for call in recorder.calls} == {"own"}
        assert (run.exit_reason, outcomes(loop)) == (
            "max_iterations",
            ["completed", "quality_failed", "completed"],
        )
        assert loop.statuses() == {"1": "completed", "2": "completed", "3": "pending"}

    def test_the_project_template_shadows_the_shipped_one(self, loop: LoopProject) -> None:
        loop.tasks("1")
        template = loop.root / ".samuel/templates/ralph/prompt.md.j2"
        template.parent.mkdir(parents=True)
        template.write_text("only {{.State.RunId}} and {{ Project.Name }}")
        run = loop.run()
        assert (loop.root / "seen-1.md").read_text() == f"only {run.run_id} and project"

    def test_the_next_run_may_use_another_agent(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent("touch other-was-here\n" + GOOD, name="other")
        loop.run(1)
        assert not (loop.root / "other-was-here").exists()
        assert loop.run(agent="other").exit_reason == "queue_empty"
        assert (loop.root / "other-was-here").exists()


class TestPilot:
    PILOT = "[methodology.ralph.pilot]\nenabled = true\ndiscover_interval = 3\nmax_discovery_tasks = 2\n"
    AGENT = (
        'if [ "$SAMUEL_MODE" = discovery ]; then echo $SAMUEL_ITERATION >> seen-discoveries; FIND; else\n'
        + GOOD
        + "fi\n"
    )

    @pytest.mark.slow
    def test_pilot_mode_discovers_every_discover_interval_iterations(self, loop: LoopProject) -> None:
        loop.configure("", self.PILOT)
        loop.tasks(*(str(number) for number in range(1, 20)))
        loop.agent(self.AGENT.replace("FIND", 'samuel run enqueue "found"'))
        loop.run(7)
        assert (loop.root / "seen-discoveries").read_text().split() == ["1", "4", "7"]

    def test_a_discovery_adds_at_most_max_discovery_tasks(self, loop: LoopProject) -> None:
        loop.configure("", self.PILOT)
        loop.tasks("1", "2", "3")
        find = "for n in 1 2 3 4; do samuel run enqueue found-$n || true; done"
        loop.agent(self.AGENT.replace("FIND", find))
        loop.run(1)
        assert len(loop.store.load()) == 5

    def test_two_discoveries_that_add_nothing_end_the_run(self, loop: LoopProject) -> None:
        loop.configure("", self.PILOT)
        loop.tasks()
        loop.agent(self.AGENT.replace("FIND", "true"))
        run = loop.run()
        assert (run.exit_reason, run.iterations_run) == ("discovery_exhausted", 2)


class TestStopping:
    def test_a_second_run_is_refused_and_names_the_holder(self, loop: LoopProject) -> None:
        loop.tasks("1")
        with (
            held(loop.root / ".samuel/run/run.lock", note="samuel run start, ralph"),
            pytest.raises(Locked, match="samuel run start"),
        ):
            loop.run()

    def test_a_requested_stop_ends_the_run_after_the_current_step(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        stop = Stop()

        @samuel.hook("context.extra")
        def wish(event: Any) -> None:
            stop.requested = True

        recorder = Recorder("after:loop")
        run = loop.run(stop=stop, handlers=[wish, recorder])
        assert run.exit_reason == "interrupted"
        assert loop.statuses() == {"1": "pending", "2": "pending"}
        assert [event.exit_reason for event in recorder.events] == ["interrupted"]

    def test_max_duration_is_a_limit(self, loop: LoopProject) -> None:
        loop.configure('max_duration = "1ms"')
        loop.tasks("1", "2")
        assert loop.run().exit_reason == "budget"

    def test_a_broken_task_file_pauses_the_loop_and_is_not_overwritten(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        prd = loop.root / ".samuel/run/prd.toon"
        loop.agent(GOOD + "sleep 0\n")
        stop = Stop()

        @samuel.hook("after:iteration")
        def breaks(event: Any) -> None:
            prd.write_text("this is not a task file\n")
            stop.requested = False

        def watch(report: Report) -> None:
            if isinstance(report, TaskFileUnreadable):
                stop.requested = True

        with loop.project.open(trust_everything=True, handlers=[breaks], watch=watch) as app:
            run = app.loop(stop).run(5, ["mine"])
        assert run.exit_reason == "interrupted"
        assert prd.read_text() == "this is not a task file\n"


class TestGit:
    def test_one_commit_per_task_of_what_it_changed(self, loop: LoopProject) -> None:
        loop.configure("commit = true")
        subprocess.run(["git", "commit", "-qam", "config"], cwd=loop.root, check=True)
        (loop.root / "mine.txt").write_text("not yours\n")
        loop.tasks("1", "2")
        loop.run()
        log = subprocess.run(
            ["git", "log", "--format=%s", "--name-only", "-2"], cwd=loop.root, capture_output=True, text=True
        )
        assert log.stdout.split("\n") == ["2 Task 2", "", "work-2.txt", "1 Task 1", "", "work-1.txt", ""]
        status = subprocess.run(["git", "status", "--short"], cwd=loop.root, capture_output=True, text=True)
        assert status.stdout == "?? mine.txt\n"
        shas = [task.commit_sha for task in loop.store.load()]
        assert all(len(sha) == 40 for sha in shas)


class TestDryRun:
    def test_a_dry_run_starts_no_agent_and_changes_nothing(self, loop: LoopProject) -> None:
        loop.tasks("1")
        before = _files(loop.root)
        recorder = Recorder(
            *(name for name in names.LOOP if name not in (names.ITERATION_GATE, names.AGENT_INVOKE))
        )
        with loop.open(handlers=[recorder]) as app:
            data = app.loop(Stop(), dry_run=True).dry_run("mine")
        assert data["task"] == "1"
        assert "Task 1" in data["prompt"]
        assert len(recorder.events) == 11
        assert all(event.dry_run for event in recorder.events)
        assert _files(loop.root) == before
        assert loop.statuses() == {"1": "pending"}
        assert RunFile(loop.root / ".samuel/run").load() is None

    def test_a_dry_run_says_what_would_stop_it(self, loop: LoopProject) -> None:
        loop.tasks("1", status="completed")
        with loop.open() as app:
            data = app.loop(Stop(), dry_run=True).dry_run("mine")
        assert (data["stopped"], data["exit_reason"]) == ("gated: no task is left to do", "queue_empty")


def _files(root: Path) -> dict[str, bytes]:
    """All but git's own, and what the journal notes: that hooks were called is no change of the project."""
    ours = root / ".samuel/run/.gitignore"
    return {
        str(path): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path != ours and not {".git", "journal"} & set(path.parts)
    }


def _harmless(event: Any) -> None:
    return None


def _environment(event: Any) -> dict[str, str]:
    """What an adapter would give its agent."""
    import os

    bin = Path(sys.executable).parent
    return {**os.environ, **event.env, "PATH": f"{bin}:{os.environ['PATH']}"}
