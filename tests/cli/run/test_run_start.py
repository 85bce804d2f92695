"""`samuel run start`: real processes, whole outputs, and every way out."""

from __future__ import annotations

import json
import re
import signal

import pytest
from msgspec.structs import replace

from samuel.history.run_file import RunFile
from samuel.tasks.task import Task

from .conftest import CONFIG, GOOD, steady

DONE = """\
2 tasks to do, 0 done, at most 25 iterations
  check `test ! -f wrong`: ok (0.0s)
baseline: the checks pass
iteration 1/25: 1 One
  agent: exit code 0
  check `test ! -f wrong`: ok (0.0s)
  completed (checked): 1 of 2 tasks completed
iteration 2/25: 2 Two
  agent: exit code 0
  check `test ! -f wrong`: ok (0.0s)
  completed (checked): 2 of 2 tasks completed
ended: queue_empty after 2 iterations; 2 completed
  report: .samuel/run/reports/RUN/report.html
"""


@pytest.mark.slow
def test_run_start_works_on_all_tasks_and_prints_each_step(samuel, workshop):
    ran = samuel("run", "start", "--yes")
    assert (ran.code, steady(ran.out), ran.err) == (0, DONE, "")
    assert workshop.statuses == ["completed", "completed"]
    assert (workshop.root / ".samuel/run/summary.md").read_text().splitlines()[1:] == [
        "",
        "- ended: queue_empty",
        "- iterations: 2",
        "- completed: 2",
    ]
    # Nothing left to do is done at once.
    assert "\nended: queue_empty after 0 iterations; 2 completed\n" in samuel("run", "start").out


def test_run_start_ends_with_0_after_the_requested_iterations(samuel, workshop):
    ran = samuel("run", "start", "--yes", "--iterations", "1")
    assert ran.code == 0
    assert "\nended: max_iterations after 1 iteration; 1 completed, 1 pending\n" in ran.out


def test_run_start_ends_with_1_after_consecutive_failures(samuel, workshop):
    workshop.agent("echo no key >&2\nexit 3\n")
    workshop.configure(
        CONFIG.replace('pause = "0s"', 'pause = "0s"\nmax_task_attempts = 1\nmax_consecutive_failures = 2')
    )
    workshop.store.replace_all(
        [Task(id=id, title=title) for id, title in (("1", "One"), ("2", "Two"), ("3", "Three"))]
    )
    ran = samuel("run", "start", "--yes")
    assert ran.code == 1
    assert ran.out.count("  agent_failed: no key\n") == 2
    assert "\nended: consecutive_failures after 2 iterations; 1 pending, 2 blocked\n" in ran.out
    assert "- blocked 1 One: agent_failed: no key" in (workshop.root / ".samuel/run/summary.md").read_text()


@pytest.mark.slow
def test_run_start_json_has_the_result_of_the_run(samuel, workshop):
    workshop.configure(CONFIG.replace('["test ! -f wrong"]', '["test ! -f work-2"]'))
    ran = samuel("run", "start", "--yes", "--json")
    answer = ran.json
    run_id = answer["data"].pop("run_id")
    assert (ran.code, ran.err) == (1, "")
    assert answer == {
        "ok": False,
        "data": {
            "methodology": "ralph",
            "agent": "mine",
            "exit_reason": "tasks_blocked",
            "iterations_run": 4,
            "max_iterations": 25,
            "outcomes": {"completed": 1, "quality_failed": 3},
            "usage": {},
        },
        "warnings": [],
        "error": None,
    }
    status = samuel("run", "status", "--json").json["data"]
    assert status.items() >= {**answer["data"], "run_id": run_id, "counts": {"completed": 1, "blocked": 1}}.items()
    assert (status["running"], [task["id"] for task in status["blocked"]]) == (False, ["2"])


@pytest.mark.slow
def test_run_status_prints_counts_and_the_last_run(samuel, workshop):
    assert samuel("run", "status") == (0, "STATUS   TASKS\npending  2\n", "")
    samuel("run", "start", "--yes")
    counts, _, last_run, began, *rest = samuel("run", "status").out.split("\n")[1:]
    assert counts.split() == ["checked", "2"]
    assert re.fullmatch(r"last run    run-[0-9a-f]+, queue_empty", last_run)
    assert began.startswith("began       MOMENT")
    assert rest == ["iterations  2", "cost        unknown", ""]


@pytest.mark.slow
def test_usage_is_shown_and_summed(samuel, workshop, put):
    workshop.configure(CONFIG.replace('agent = "mine"', 'agent = "scripted"'))
    put(".samuel/scripted/default", f"#!/bin/sh\n{GOOD}", 0o755)
    put(".samuel/scripted/usage.json", '{"input_tokens": 1000, "output_tokens": 50, "cost_usd": 0.25}')
    ran = samuel("run", "start", "--yes")
    assert ran.out.count("  agent: exit code 0, 1,050 tokens, $0.25\n") == 2
    assert "; 2 completed, 2,100 tokens, $0.50\n" in ran.out
    usage = samuel("run", "status", "--json").json["data"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["cost_usd"]) == (2000, 100, 0.5)


class TestBefore:
    """What would fail in the middle of the night is said before the loop starts."""

    def test_run_start_is_refused_without_the_program_of_the_agent(self, samuel, workshop, monkeypatch):
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        ran = samuel("run", "start", "--yes", "--agent", "codex")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == (
            "error: the agent `codex` needs `codex`, which is not on PATH; "
            "to install it: npm install -g @openai/codex\n"
        )
        (workshop.root / "agent.sh").unlink()
        assert "the agent `mine` needs `./agent.sh`, which does not exist" in samuel("run", "start", "--yes").err
        assert RunFile(workshop.store.directory).load() is None

    def test_run_start_refuses_an_unknown_agent_and_an_unknown_methodology(self, samuel, workshop):
        assert samuel("run", "start", "--agent", "mime") == (
            2,
            "",
            "error: there is no agent `mime`\ndid you mean `mine`?\n",
        )
        assert samuel("run", "start", "--methodology", "ralf") == (
            2,
            "",
            "error: there is no methodology `ralf`\ndid you mean `ralph`?\n",
        )

    def test_run_start_is_refused_without_tasks(self, samuel, workshop):
        workshop.store.path.unlink()
        assert samuel("run", "start", "--yes").err.startswith("error: there are no tasks yet: ")

    @pytest.mark.slow
    def test_run_start_is_refused_while_commands_are_not_trusted(self, samuel, workshop):
        ran = samuel("run", "start")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == (
            "error: not trusted: `checks:ralph` has not been agreed to yet; run `samuel trust` to look at it "
            "and agree, or `samuel run start --yes`\n"
        )
        assert samuel("trust", "--list", "--json").json["data"][0]["state"] == "new"
        assert [item["name"] for item in samuel("trust", "--yes", "--json").json["data"]["agreed"]] == [
            "checks:ralph",
            "agent:mine",
        ]
        assert samuel("run", "start").code == 0

    @pytest.mark.parametrize(
        ("old", "new", "name"),
        [("test ! -f wrong", "touch canary", "checks:ralph"), ("./agent.sh", "./evil.sh", "agent:mine")],
    )
    def test_run_start_is_refused_after_a_trusted_command_changed(self, samuel, workshop, put, old, new, name):
        samuel("trust", "--yes")
        put("evil.sh", "#!/bin/sh\ntouch canary\n", 0o755)
        workshop.configure(CONFIG.replace(old, new))
        ran = samuel("run", "start")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f"error: not trusted: `{name}` is not what was agreed to; run `samuel trust`")
        assert not (workshop.root / "canary").exists()
        difference = samuel("trust", "--show", name).out
        assert f"-{old}" in difference or f"-'{old}'" in difference

    def test_trusting_an_agent_includes_the_program_in_the_project(self, samuel, workshop):
        samuel("trust", "--yes")
        workshop.agent("touch canary\n")
        assert "`agent:mine` is not what was agreed to" in samuel("run", "start").err
        assert not (workshop.root / "canary").exists()

    def test_hooks_fire_does_not_run_an_untrusted_agent(self, samuel, workshop):
        fields = json.dumps({"agent": "mine", "prompt": "x"})
        ran = samuel("hooks", "fire", "agent.invoke", "--really", "--payload", fields)
        assert (ran.code, ran.json["chain"][0]["outcome"]) == (1, "crashed")
        assert "`agent:mine` has not been agreed to" in ran.json["chain"][0]["message"]
        ran = samuel("hooks", "fire", "quality.check", "--payload", '{"commands": ["test ! -f wrong"]}')
        assert "`checks:ralph` has not been agreed to" in ran.json["chain"][0]["message"]

    def test_trusting_is_refused_inside_a_run(self, samuel, workshop, inside):
        inside(TASK_ID="1")
        for command in (("trust", "--yes"), ("run", "start", "--yes")):
            ran = samuel(*command)
            assert (ran.code, ran.out) == (1, "")
            assert "this is inside the run `run-7`, which cannot change what is trusted" in ran.err

    @pytest.mark.slow
    def test_run_start_prints_a_note_about_a_dirty_work_tree(self, samuel, workshop, git, put):
        git(workshop.root, "init", "-q")
        put(".gitignore", ".samuel\nwork-*\n")
        git(workshop.root, "add", ".")
        git(workshop.root, "commit", "-qm", "begin")
        assert samuel("run", "start", "--yes", "--iterations", "1").err == ""
        put("notes.txt", "x")
        note = "note: the work tree is dirty (%s); the run does not commit what you changed\n"
        assert samuel("run", "start", "--iterations", "1").err == note % "`notes.txt`"
        put("more.txt", "x")
        assert samuel("run", "start", "--iterations", "1").err == note % "2 files"

    @pytest.mark.slow
    def test_a_resumed_run_says_nothing_about_what_its_killed_agent_left(self, samuel, workshop, git, put):
        put(".gitignore", ".samuel\nkill\n")
        git(workshop.root, "add", ".")
        git(workshop.root, "commit", "-qm", "begin")
        workshop.agent(f"{GOOD}[ -e kill ] || {{ touch kill; kill -9 $PPID; sleep 60; }}\n")
        assert samuel("trust", "--yes").code == 0
        with workshop.start("--iterations", "2") as killed:
            assert killed.wait(timeout=600) == -9
        assert git(workshop.root, "status", "--porcelain") == "?? work-1\n"
        ran = samuel("run", "start")
        assert ran.out.startswith("resuming run ")
        assert ran.err == ""

    def test_run_start_does_not_follow_a_link_in_the_state(self, samuel, workshop, put, tmp_path):
        """It could have come with a clone, and lead to a person's shell profile."""
        (tmp_path / "profile").write_text("mine\n")
        (workshop.root / ".samuel/run/progress.md").symlink_to(tmp_path / "profile")
        put(".samuel/hooks/broken", "#!/bin/sh\n[ $1 = hook ] && echo context.extra || exit 3\n", 0o755)
        assert "symbolic link" in samuel("run", "start", "--yes").err
        assert (tmp_path / "profile").read_text() == "mine\n"


class TestSeeing:
    @pytest.mark.slow
    def test_verbose_shows_what_the_agent_says(self, samuel, workshop):
        workshop.agent("printf 'caf\\303'; sleep 0.05; printf '\\251 \\033[31mred'\n" + GOOD)
        ran = samuel("run", "start", "--yes", "-v", "--iterations", "1")
        assert "\ncafé redworking on 1\n  agent: exit code 0\n" in ran.out
        assert "working" not in samuel("run", "start", "--iterations", "1").out
        assert "[hooks.timing] quality.check default" in (workshop.root / ".samuel/run/progress.md").read_text()

    @pytest.mark.slow
    def test_the_output_of_the_agent_is_kept_in_the_logs(self, samuel, workshop):
        samuel("run", "start", "--yes")
        logs = workshop.root / ".samuel/run/logs"
        (log,) = logs.glob("run-*/iteration-0002.log")
        assert log.read_text() == "working on 2\n"
        (checks,) = logs.glob("run-*/iteration-0002-checks.log")
        assert re.fullmatch(r"\$ test ! -f wrong  \(ok, [\d.]+ s\)\n\n", checks.read_text())
        lines = [json.loads(line) for line in (logs / "agent.jsonl").read_text().splitlines()]
        assert [(line["iteration"], line["exit_code"]) for line in lines] == [(1, 0), (2, 0)]
        assert all(isinstance(line["duration_ms"], float) for line in lines)

    @pytest.mark.slow
    def test_profile_ends_with_a_table(self, samuel, workshop, put):
        put(".samuel/hooks/slow", "#!/bin/sh\n[ $1 = hook ] && echo context.extra || sleep 0.06\n", 0o755)
        ran = samuel("run", "start", "--yes", "--profile")
        head, *rows = ran.out.split("ended: ")[1].partition("EVENT")[2].splitlines()
        assert head.split()[0] == "HANDLER"
        cells = {tuple(row.split()[:2]): row.split() for row in rows}
        assert cells["context.extra", "slow"][2] == "2"
        assert cells["context.extra", "slow"][-1] in ("note", "warning")  # the latter on a busy machine
        assert cells["quality.check", "default"][-1] == "-"
        totals = [float(row.split()[5]) for row in rows]
        assert totals == sorted(totals, reverse=True)

    @pytest.mark.slow
    def test_profile_is_part_of_the_json_result(self, samuel, workshop):
        rows = samuel("run", "start", "--yes", "--profile", "--json").json["data"]["profile"]
        assert {"event", "handler", "calls", "p50 ms", "p95 ms", "total ms", "slow"} == set(rows[0])

    @pytest.mark.slow
    def test_a_terminal_shows_the_task_the_step_and_the_progress_bar(self, on_terminal, workshop):
        workshop.agent("sleep 3\n" + GOOD)  # the screen is drawn four times a second
        code, screen = on_terminal("run", "start", "--yes", "--iterations", "1")
        assert code == 0
        for part in ("1 One", "agent at work", "0/2 tasks", "iteration 1/1, 0:", "\x1b[1m1 One"):
            assert part in screen
        assert "━" in screen
        assert "ended: max_iterations after 1 iteration" in screen

    @pytest.mark.slow
    def test_no_color_turns_off_colours(self, on_terminal, workshop):
        workshop.agent("sleep 3\n" + GOOD)  # the screen is drawn four times a second
        _, screen = on_terminal("run", "start", "--yes", "--iterations", "1", NO_COLOR="1")
        assert "1 One" in screen
        assert not re.search(r"\x1b\[[0-9;]*m", screen)

    @pytest.mark.slow
    def test_a_terminal_asks_about_what_is_not_trusted_yet(self, on_terminal, workshop):
        code, screen = on_terminal("run", "start", typed="y\ny\n")
        assert code == 0
        assert "checks:ralph  (new, sha256 " in screen
        assert "Trust `agent:mine`?" in screen
        assert workshop.statuses == ["completed", "completed"]

    @pytest.mark.slow
    def test_a_closed_output_does_not_end_the_run(self, workshop):
        workshop.agent("sleep 0.2\n" + GOOD)
        with workshop.start("--yes") as process:
            process.stdout.close()
            process.wait(timeout=300)
        assert workshop.statuses == ["completed", "completed"]


class TestDryRun:
    def test_a_dry_run_prints_its_task_and_changes_nothing(self, samuel, workshop, put):
        put(".samuel/hooks/dry", "#!/bin/sh\n[ $1 = hook ] && echo after:iteration || cat > seen.json\n", 0o755)
        before = workshop.store.path.read_bytes()
        ran = samuel("run", "start", "--yes", "--dry-run")
        assert (ran.code, ran.err) == (0, "")
        header, prompt = ran.out.split("\n\n", 1)
        assert re.fullmatch(
            r"2 tasks to do, 0 done, at most 1 iteration\ndry run: task 1, a prompt of \d+ bytes for mine", header
        )
        assert prompt.startswith("# project: iteration 1 of 1\n")
        assert " run done 1`" in prompt
        assert json.loads((workshop.root / "seen.json").read_text())["dry_run"] is True
        assert workshop.store.path.read_bytes() == before
        assert sorted(path.name for path in workshop.store.directory.iterdir()) == [
            ".gitignore",
            "journal",
            "prd.toon",
            "state.lock",
        ]
        assert not (workshop.root / "work-1").exists()
        data = samuel("run", "start", "--dry-run", "--json").json["data"]
        assert (data["task"], data["stopped"], "One" in data["prompt"]) == ("1", "", True)

    def test_a_dry_run_prints_what_would_stop_the_run(self, samuel, workshop, put):
        put(".samuel/hooks/no", "#!/bin/sh\n[ $1 = hook ] && echo before:loop || echo '{\"ok\": false}'\n", 0o755)
        ran = samuel("run", "start", "--yes", "--dry-run")
        assert ran.code == 1
        assert ran.out.splitlines()[-1].startswith("dry run: stopped: aborted: ")
        assert "# project" not in ran.out

    def test_a_dry_run_without_a_task_is_no_failure_and_says_so(self, samuel, workshop):
        workshop.store.change(lambda tasks: [replace(task, status="completed") for task in tasks])
        ran = samuel("run", "start", "--yes", "--dry-run")
        assert (ran.code, ran.out.splitlines()[-1], ran.err) == (0, "dry run: no task is left to do", "")
        printed = samuel("run", "start", "--dry-run", "--json").json
        assert (printed["ok"], printed["error"], printed["data"]["exit_reason"]) == (True, None, "queue_empty")

    def test_a_dry_run_with_blocked_tasks_fails_with_the_reason(self, samuel, workshop):
        workshop.store.change(lambda tasks: [replace(task, status="blocked") for task in tasks])
        printed = samuel("run", "start", "--yes", "--dry-run", "--json").json
        assert (printed["ok"], printed["error"]["message"]) == (
            False,
            "gated: the tasks that are left are blocked",
        )

    def test_a_dry_run_prints_the_prompt_although_a_hook_refuses_the_result(self, samuel, workshop, put):
        put(
            ".samuel/hooks/no", "#!/bin/sh\n[ $1 = hook ] && echo quality.check || echo '{\"ok\": false}'\n", 0o755
        )
        ran = samuel("run", "start", "--yes", "--dry-run")
        assert ran.code == 1
        assert "\n## Deliver\n" in ran.out
        assert ran.out.splitlines()[-1].startswith("dry run: stopped: quality_failed: ")
        data = samuel("run", "start", "--dry-run", "--json").json["data"]
        assert (data["stopped"].split(":")[0], "## Deliver" in data["prompt"]) == ("quality_failed", True)


RECORDING = "#!/bin/sh\n[ $1 = hook ] && echo {event} && exit\ncat >> {payload_file}; echo >> {payload_file}\n"


class TestStopping:
    SLOW = 'echo $$ > "agent-$SAMUEL_TASK_ID"; sleep 30 & wait\n'
    HOOK = "#!/bin/sh\n[ $1 = hook ] && echo after:loop || cat > last.json\n"

    def interrupted(self, workshop, iterations: int = 0) -> None:
        assert workshop.statuses == ["pending", "pending"]
        assert json.loads((workshop.root / "last.json").read_text())["exit_reason"] == "interrupted"
        run = RunFile(workshop.store.directory).load()
        assert (run.exit_reason, run.iterations_run, run.working) == ("interrupted", iterations, False)

    @pytest.mark.slow
    def test_a_second_start_is_refused_and_names_the_holder(self, workshop, marked_processes):
        workshop.agent(self.SLOW)
        with workshop.start("--yes") as process:
            workshop.wait_for("agent-1")
            with workshop.start() as second:
                out, err = second.communicate(timeout=300)
            process.send_signal(signal.SIGINT)
            process.stderr.readline()
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
        assert (second.returncode, out) == (1, "")
        assert f"run.lock` is locked by pid {process.pid} (samuel run start, ralph)" in err

    @pytest.mark.slow
    def test_one_interrupt_finishes_the_attempt_and_counts_it(self, workshop, put):
        put(".samuel/hooks/last", self.HOOK, 0o755)
        workshop.agent('touch begun; while [ ! -f go ]; do sleep 0.02; done; touch "finished"\n')
        with workshop.start("--yes") as process:
            workshop.wait_for("begun")
            process.send_signal(signal.SIGINT)
            assert "finishing this attempt" in process.stderr.readline() + process.stderr.readline()
            (workshop.root / "go").touch()
            out, _ = process.communicate(timeout=300)
        assert process.returncode == 130
        assert "ended: interrupted after 1 iteration; 2 pending\n" in out
        assert (workshop.root / "finished").exists()
        self.interrupted(workshop, iterations=1)

    @pytest.mark.slow
    @pytest.mark.parametrize("wish", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    @pytest.mark.sampled(every=2)
    def test_two_interrupts_stop_now_and_leave_no_process_behind(self, workshop, put, marked_processes, wish):
        put(".samuel/hooks/last", self.HOOK, 0o755)
        workshop.agent(self.SLOW)
        with workshop.start("--yes") as process:
            workshop.wait_for("agent-1")
            process.send_signal(wish)
            process.stderr.readline()
            process.stderr.readline()
            process.send_signal(wish)
            out, _ = process.communicate(timeout=300)
        assert process.returncode == 130
        assert "ended: interrupted after 0 iterations; 2 pending\n" in out
        self.interrupted(workshop)

    @pytest.mark.slow
    def test_a_session_that_a_person_stops_gets_session_stop_with_the_changed_files(
        self, workshop, put, marked_processes
    ):
        payload_file = workshop.root / ".samuel/seen"
        for event in ("TurnEnd", "SessionStop", "SessionEnd", "after:loop"):
            put(
                f".samuel/hooks/{event.replace(':', '-')}",
                RECORDING.format(event=event, payload_file=payload_file),
                0o755,
            )
        workshop.agent(f"echo half > half-done.txt\n{self.SLOW}")
        with workshop.start("--yes") as process:
            workshop.wait_for("agent-1")
            process.send_signal(signal.SIGINT)
            process.stderr.readline()
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=300)
        assert process.returncode == 130
        payloads = [json.loads(line) for line in payload_file.read_text().splitlines() if line]
        assert [payload["event"] for payload in payloads] == ["SessionStop", "SessionEnd", "after:loop"]
        assert {"agent-1", "half-done.txt"} <= {*payloads[0]["changed_files"]}

    @pytest.mark.slow
    def test_iterations_before_an_interrupt_stay_counted(self, samuel, workshop):
        workshop.agent(f"if [ $SAMUEL_TASK_ID = 1 ]; then\n{GOOD}else\n{self.SLOW}fi\n")
        with workshop.start("--yes", "--json") as process:
            workshop.wait_for("agent-2")
            process.send_signal(signal.SIGINT)
            process.stderr.readline()
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=300)
        data = json.loads(out)["data"]
        assert (data["iterations_run"], data["outcomes"]) == (1, {"completed": 1})
        assert workshop.statuses == ["completed", "pending"]
        workshop.agent(GOOD)
        assert samuel("run", "start", "--yes").code == 0
        assert workshop.statuses == ["completed", "completed"]

    @pytest.mark.slow
    def test_a_strict_handler_of_after_loop_that_fails_makes_the_exit_code_1(self, samuel, workshop, put):
        put(".samuel/hooks/last", "#!/bin/sh\n[ $1 = hook ] && echo after:loop || exit 9\n", 0o755)
        assert samuel("run", "start", "--yes").code == 0
        workshop.configure(CONFIG + '[hooks."after:loop"]\nstrict = true\n')
        ran = samuel("run", "start", "--yes")
        assert ran.code == 1
        assert "warning: after:loop: " in ran.err

    @pytest.mark.slow
    def test_a_killed_run_is_resumed_by_the_next_start(self, samuel, workshop):
        workshop.agent(self.SLOW)
        with workshop.start("--yes") as process:
            workshop.wait_for("agent-1")
            process.kill()
            process.wait()
        assert workshop.statuses == ["in_progress", "pending"]
        assert ", not ended: `samuel run start` resumes it\n" in samuel("run", "status").out
        workshop.agent(GOOD)
        ran = samuel("run", "start", "--yes")
        assert (ran.code, workshop.statuses) == (0, ["completed", "completed"])
        assert re.match(r"resuming run run-\w+ at iteration 1\n2 tasks to do", ran.out), ran.out


def test_run_start_works_as_a_program_of_its_own(workshop):
    with workshop.start("--yes") as process:
        out, err = process.communicate(timeout=300)
    assert (process.returncode, steady(out), err) == (0, DONE, "")
