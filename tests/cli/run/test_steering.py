"""What a person says to a run, and asks of it, from another terminal."""

from __future__ import annotations

import getpass
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.run.conftest import GOOD, REAL, Workshop

from samuel.base import paths

ME = getpass.getuser()
WATCHED = 'cat > "prompt-$SAMUEL_ITERATION"\n'
"""An agent that keeps what it was told."""


def call(workshop: Workshop, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REAL, "run", *arguments], cwd=workshop.root, capture_output=True, text=True, timeout=120
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    stdout, stderr = process.communicate(timeout=120)
    return process.returncode, stdout + stderr


def prompt(workshop: Workshop, number: int) -> str:
    return (workshop.root / f"prompt-{number}").read_text()


def steering(workshop: Workshop) -> dict[str, Any]:
    state = workshop.root / ".samuel/run"
    data: dict[str, Any] = json.loads((paths.User.from_environment().record(state) / "steering.json").read_text())
    return data


def status(workshop: Workshop) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(call(workshop, "status", "--json").stdout)["data"]
    return data


class TestSay:
    def test_the_next_attempt_alone_reads_what_was_said_before_the_start(self, workshop: Workshop) -> None:
        workshop.agent(WATCHED + GOOD)
        answer = call(workshop, "say", "use the standard library")
        assert (answer.returncode, answer.stdout) == (0, "the next attempt reads it\n")
        assert ended(workshop.start("--yes"))[0] == 0
        assert "## From a person" in prompt(workshop, 1)
        assert f"{ME}, 20" in prompt(workshop, 1)
        assert "use the standard library" in prompt(workshop, 1)
        assert "use the standard library" not in prompt(workshop, 2)
        assert "## From a person" not in prompt(workshop, 2)

    def test_all_attempts_at_a_task_read_what_was_said_about_it(self, workshop: Workshop) -> None:
        # The first attempt at each task does not claim it.
        workshop.agent(
            WATCHED + f'if [ "$SAMUEL_ATTEMPT" = 1 ]; then echo y > "f-$SAMUEL_TASK_ID"; exit 0; fi\n{GOOD}'
        )
        answer = call(workshop, "say", "--task", "2", "mind the gap")
        assert (answer.returncode, answer.stdout) == (0, "all attempts at task `2` read it\n")
        assert ended(workshop.start("--yes"))[0] == 0
        assert [("mind the gap" in prompt(workshop, number)) for number in (1, 2, 3, 4)] == [
            False,
            False,
            True,
            True,
        ]

    def test_what_was_said_is_in_the_status_until_it_is_read(self, workshop: Workshop) -> None:
        call(workshop, "say", "hurry")
        [entry] = status(workshop)["guidance"]
        assert (entry["text"], entry["who"], entry["delivered"]) == ("hurry", ME, [])
        assert f"said        {ME} to the next attempt: hurry" in call(workshop, "status").stdout
        assert ended(workshop.start("--yes"))[0] == 0
        assert status(workshop)["guidance"] == []

    def test_the_next_attempt_reads_it_if_the_agent_could_not_work(self, workshop: Workshop) -> None:
        workshop.agent(
            WATCHED + f'if [ "$SAMUEL_ITERATION" = 1 ]; then echo "429 rate limit" >&2; exit 1; fi\n{GOOD}'
        )
        workshop.configure(
            (workshop.root / "samuel.toml").read_text().replace('pause = "0s"', 'pause = "0s"\nmax_wait = "0s"')
        )
        call(workshop, "say", "hurry")
        ended(workshop.start("--yes"))
        assert "hurry" in prompt(workshop, 1)
        assert steering(workshop)["guidance"][0]["delivered"] == []

    @pytest.mark.parametrize("text", ["", "  \n", "x" * 8001])
    def test_a_text_that_is_empty_or_too_long_is_a_usage_error(self, workshop: Workshop, text: str) -> None:
        answer = call(workshop, "say", text)
        assert answer.returncode == 2
        assert answer.stderr.startswith("error: the text ")

    def test_a_task_that_does_not_exist_is_a_usage_error(self, workshop: Workshop) -> None:
        answer = call(workshop, "say", "--task", "7", "hurry")
        assert answer.returncode == 2
        assert "there is no task `7`" in answer.stderr

    def test_new_tasks_are_not_told_what_was_said_about_the_old_ones(self, workshop: Workshop) -> None:
        call(workshop, "say", "--task", "1", "mind the gap")
        (workshop.root / "PRD.md").write_text("# Plan\n\n- [ ] 1 Else\n")
        assert call(workshop, "init", "--from", "PRD.md", "--force").returncode == 0
        assert status(workshop)["guidance"] == []


class TestPause:
    def test_the_attempt_under_way_finishes_and_none_begins_until_resume(self, workshop: Workshop) -> None:
        workshop.agent(f'touch "begun-$SAMUEL_TASK_ID"\nwhile [ ! -e go ]; do sleep 0.05; done\n{GOOD}')
        run = workshop.start("--yes")
        workshop.wait_for("begun-1")
        paused = call(workshop, "pause")
        assert (paused.returncode, paused.stdout) == (0, f"paused by {ME}; `samuel run resume` lets it go on\n")
        (workshop.root / "go").touch()
        while status(workshop)["counts"].get("completed") != 1:
            assert run.poll() is None
        data = status(workshop)
        assert (data["paused"], data["running"]) == (True, True)
        assert workshop.statuses == ["completed", "pending"]
        assert not (workshop.root / "begun-2").exists()
        assert call(workshop, "resume").stdout == "not paused any more\n"
        code, output = ended(run)
        assert code == 0
        assert f"paused by {ME}: `samuel run resume` lets the run go on\n" in output
        assert "\nresumed\n" in output
        assert workshop.statuses == ["completed", "completed"]

    def test_a_start_while_paused_starts_no_agent_and_names_resume(self, workshop: Workshop) -> None:
        call(workshop, "pause")
        code, output = ended(workshop.start("--yes"))
        assert code == 1
        assert f"the run is paused by {ME}" in output
        assert "samuel run resume" in output
        assert workshop.statuses == ["pending", "pending"]
        assert call(workshop, "resume").returncode == 0
        assert ended(workshop.start("--yes"))[0] == 0

    def test_a_pause_survives_the_death_of_its_run(self, workshop: Workshop) -> None:
        workshop.agent(f'touch "begun-$SAMUEL_TASK_ID"\nwhile [ ! -e go ]; do sleep 0.05; done\n{GOOD}')
        run = workshop.start("--yes")
        workshop.wait_for("begun-1")
        call(workshop, "pause")
        run.kill()
        ended(run)
        assert status(workshop)["paused"]
        assert ended(workshop.start())[0] == 1
        call(workshop, "resume")
        (workshop.root / "go").touch()
        assert ended(workshop.start())[0] == 0

    def test_a_broken_document_is_named_and_not_a_traceback(self, workshop: Workshop) -> None:
        call(workshop, "pause")
        file = paths.User.from_environment().record(workshop.root / ".samuel/run") / "steering.json"
        file.write_text('{"pause": 3}')
        for arguments in (("start",), ("pause",), ("status",)):
            done = call(workshop, *arguments)
            assert done.returncode == 2
            assert "steering.json" in done.stderr
            assert "`pause` must be an object or null, not an integer" in done.stderr


class TestStop:
    def test_the_run_ends_as_interrupted_after_the_attempt(self, workshop: Workshop) -> None:
        workshop.agent(f'touch "begun-$SAMUEL_TASK_ID"\nwhile [ ! -e go ]; do sleep 0.05; done\n{GOOD}')
        run = workshop.start("--yes")
        workshop.wait_for("begun-1")
        stopped = call(workshop, "stop", "--json")
        assert stopped.returncode == 0
        (workshop.root / "go").touch()
        assert ended(run)[0] == 130
        assert workshop.statuses == ["completed", "pending"]
        assert status(workshop)["exit_reason"] == "interrupted"
        assert status(workshop)["run_id"] == json.loads(stopped.stdout)["data"]["run_id"]
        assert ended(workshop.start())[0] == 0  # the request was for that run

    def test_without_a_run_there_is_nothing_to_stop(self, workshop: Workshop) -> None:
        stopped = call(workshop, "stop")
        assert stopped.returncode == 1
        assert "no run is under way here" in stopped.stderr


class TestRetry:
    CONFIG = """\
[methodology.ralph]
agent = "mine"
pause = "0s"
max_task_attempts = 1

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"

[agents.other]
command = ["./other.sh"]
prompt = "stdin"
"""

    def test_another_agent_works_on_this_task_alone(self, workshop: Workshop) -> None:
        workshop.configure(self.CONFIG)
        workshop.agent('echo "mine $SAMUEL_TASK_ID" >> agents-out\nexit 1\n')
        (workshop.root / "other.sh").write_text(f'#!/bin/sh\necho "other $SAMUEL_TASK_ID" >> agents-out\n{GOOD}')
        (workshop.root / "other.sh").chmod(0o755)
        assert ended(workshop.start("--yes"))[0] == 1
        assert workshop.statuses == ["blocked", "blocked"]
        retried = call(workshop, "retry", "1", "--agent", "other", "--json")
        assert retried.returncode == 0
        task = json.loads(retried.stdout)["data"]
        assert (task["status"], task["attempts"], task["agent"]) == ("pending", 0, "other")
        call(workshop, "retry", "2")
        ended(workshop.start("--yes"))
        assert (workshop.root / "agents-out").read_text().split("\n") == [
            "mine 1",
            "mine 2",
            "other 1",
            "mine 2",
            "",
        ]
        assert workshop.statuses == ["completed", "blocked"]

    def test_an_unknown_agent_and_an_unknown_task_are_usage_errors(self, workshop: Workshop) -> None:
        for arguments, words in ((("1", "--agent", "nope"), "no agent `nope`"), (("9",), "no task `9`")):
            done = call(workshop, "retry", *arguments)
            assert done.returncode == 2
            assert words in done.stderr


@pytest.mark.parametrize(
    "arguments", [("say", "x"), ("pause",), ("resume",), ("stop",), ("retry", "1")], ids=lambda words: words[0]
)
class TestInsideARun:
    def test_the_agent_of_a_run_is_refused(self, workshop: Workshop, arguments: tuple[str, ...]) -> None:
        words = " ".join(arguments)
        (workshop.root / "agent.sh").write_text(
            f"#!/bin/sh\nsamuel run {words} > refusal-out 2>&1; echo $? > code-out\n{GOOD}"
        )
        assert ended(workshop.start("--yes"))[0] == 0
        assert (workshop.root / "code-out").read_text() == "1\n"
        assert "this is inside the run" in (workshop.root / "refusal-out").read_text()
        assert not Path(
            paths.User.from_environment().record(workshop.root / ".samuel/run") / "steering.json"
        ).exists()


class TestNow:
    AGENT = f"""\
cat > "prompt-$SAMUEL_ITERATION"
echo "half of it" > "half-$SAMUEL_TASK_ID"
if [ "$SAMUEL_ITERATION" = 1 ]; then touch begun-out; while :; do sleep 0.05; done; fi
{GOOD}"""

    def test_the_attempt_ends_without_costing_one_and_its_work_is_there_when_it_starts_again(
        self, workshop: Workshop
    ) -> None:
        workshop.agent(self.AGENT.replace('echo "half', 'ls > "files-$SAMUEL_ITERATION-out"\necho "half'))
        workshop.configure((workshop.root / "samuel.toml").read_text().replace("pause", 'retry = "fresh"\npause'))
        run = workshop.start("--yes")
        workshop.wait_for("begun-out")
        answer = call(workshop, "say", "--now", "not there: look at reader.py")
        assert (answer.returncode, answer.stdout) == (0, "the agent ends, and starts again with it: `1`\n")
        code, output = ended(run)
        assert code == 0, output
        assert "not there: look at reader.py" not in prompt(workshop, 1)
        assert "not there: look at reader.py" in prompt(workshop, 2)
        assert "An agent that worked on this task was ended for it." in prompt(workshop, 2)
        assert "half-1" in (workshop.root / "files-2-out").read_text().split()
        assert "reader.py" not in prompt(workshop, 3)
        attempts = json.loads(call(workshop, "show", "--json").stdout)["data"]["attempts"]
        assert [(row["outcome"], row["attempt"]) for row in attempts] == [
            ("restarted", 1),
            ("completed", 1),
            ("completed", 1),
        ]
        assert [task.attempts for task in workshop.store.load()] == [0, 0]
        data = status(workshop)
        assert data["outcomes"] == {"restarted": 1, "completed": 2}

    def test_a_restart_does_not_count_against_the_iterations(self, workshop: Workshop) -> None:
        workshop.agent(self.AGENT)
        run = workshop.start("--yes", "--iterations", "2")
        workshop.wait_for("begun-out")
        call(workshop, "say", "--now", "--task", "1", "not there")
        assert ended(run)[0] == 0
        assert workshop.statuses == ["completed", "completed"]
        assert "not there" in prompt(workshop, 2)

    def test_without_an_attempt_under_way_the_next_one_reads_it(self, workshop: Workshop) -> None:
        workshop.agent(WATCHED + GOOD)
        assert call(workshop, "say", "--now", "hurry").stdout == "the next attempt reads it\n"
        assert ended(workshop.start("--yes"))[0] == 0
        assert "hurry" in prompt(workshop, 1)

    def test_the_text_is_read_by_the_next_attempt_if_the_run_is_killed_instead(self, workshop: Workshop) -> None:
        workshop.agent(f"cat >> said-out\nif mkdir begun-out; then while :; do sleep 0.05; done; fi\n{GOOD}")
        run = workshop.start("--yes")
        workshop.wait_for("begun-out")
        call(workshop, "say", "--now", "not there")
        run.kill()
        ended(run)
        assert ended(workshop.start("--yes"))[0] == 0
        assert (workshop.root / "said-out").read_text().count("not there") == 1
