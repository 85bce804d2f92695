"""A run with one agent in the work tree and one with two in lanes end alike: same words, reason, exit code."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable

import pytest
from tests.workspaces.lanes.project import LaneProject

BEHIND = {"1": "", "2": "Depends on: 1"}  # one task at a time, however many agents there are
STREAM = 'stream = "claude"\nclaim = "exit"'
RESULT = """printf '{"type": "result", "subtype": "success", "is_error": false, "result": "done", '
printf '"usage": {"input_tokens": 10, "output_tokens": 5}}\\n'
"""
LIMITED = """reset=$(($(date +%s) + 3600))
printf '{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": %s}}\\n' $reset
printf '{"type": "result", "subtype": "success", "is_error": true, "result": "limit reached|%s"}\\n' $reset
exit 1
"""
PILOT = """#!/bin/sh
if [ "$SAMUEL_MODE" = discovery ]; then
    mkdir {outside}/looked 2>/dev/null || exit 0
    samuel run enqueue "Find it"
else
    echo x > "work-$SAMUEL_TASK_ID.txt"
fi
"""
HELD = "touch {outside}/begun; while [ ! -e {outside}/go ]; do sleep 0.05; done; echo x > work-$SAMUEL_TASK_ID.txt"

Ended = tuple[int, str]
"""The exit code, and what the run printed."""

Scenario = Callable[[LaneProject, int], Ended]


def red_checks(project: LaneProject, parallel: int) -> Ended:
    project.prepare(2, files={"check.sh": "exit 1\n"})
    return started(project, parallel)


def pilot(project: LaneProject, parallel: int) -> Ended:
    agent = PILOT.format(outside=project.outside)
    more = "[methodology.ralph.pilot]\nenabled = true\ndiscover_interval = 100\n"
    project.prepare(1, settings="commit = true", more=more, files={"agent.sh": agent})
    return started(project, parallel)


def limit(project: LaneProject, parallel: int) -> Ended:
    project.prepare(2, settings='max_wait = "1s"', agent=STREAM)
    project.task("any", LIMITED)
    return started(project, parallel)


def question(project: LaneProject, parallel: int) -> Ended:
    project.prepare(1)
    project.task("1", 'samuel run ask "tabs or spaces?"')
    return started(project, parallel)


def interrupt(project: LaneProject, parallel: int) -> Ended:
    project.prepare(BEHIND, settings="commit = true")
    project.task("any", HELD.format(outside=project.outside))
    with project.running(lanes=parallel) as run:
        project.wait_for((project.outside / "begun").exists, run)
        run.send_signal(signal.SIGINT)
        (project.outside / "go").touch()
        return run.wait(300), project.screen


def killed(project: LaneProject, parallel: int) -> Ended:
    project.prepare(BEHIND, settings="commit = true")
    project.task("any", HELD.format(outside=project.outside))
    with project.running(lanes=parallel) as run:
        project.wait_for((project.outside / "begun").exists, run)
        project.kill(run)
    (project.outside / "go").touch()
    return started(project, parallel)


def budget(project: LaneProject, parallel: int) -> Ended:
    project.prepare(BEHIND, settings="commit = true\nmax_tokens = 15", agent=STREAM)
    # It does not end by itself: else it could end before its tokens are counted.
    project.task("any", f"echo x > work-$SAMUEL_TASK_ID.txt\n{RESULT}\nexec sleep 600")
    return started(project, parallel)


def started(project: LaneProject, parallel: int) -> Ended:
    ran = project.start(lanes=parallel, code=None)
    return ran.code, ran.screen


def last_words(screen: str) -> str:
    """How a run says that it ended, without its id, and without a count that depends on which agent was first."""
    end = screen[screen.index("ended: ") :]
    return re.sub(r"run-[0-9a-f]+", "RUN", re.sub(r" after \d+ iterations?", "", end))


REPORT = "  report: .samuel/run/reports/RUN/report.html\n"


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
@pytest.mark.parametrize(
    ("scenario", "reason", "code", "words"),
    [
        (
            red_checks,
            "baseline_failed",
            1,
            "ended: baseline_failed; 2 pending\n"
            "  fix the checks, or count only what becomes worse: samuel run start --baseline accept\n",
        ),
        (pilot, "discovery_exhausted", 0, "ended: discovery_exhausted; 2 completed\n"),
        (
            limit,
            "agent_unavailable",
            1,
            "ended: agent_unavailable; 2 pending\n"
            "  mine stays limited for longer than `max_wait`: limit reached\n",
        ),
        (
            question,
            "waiting",
            1,
            "ended: waiting; 1 waiting\n"
            "  waiting for your answer: 1 Task 1\n"
            "    samuel run answer q1 TEXT  (tabs or spaces?)\n",
        ),
        (interrupt, "interrupted", 130, "ended: interrupted; 1 completed, 1 pending\n"),
        (killed, "queue_empty", 0, "ended: queue_empty; 2 completed\n"),
        (
            budget,
            "budget",
            0,
            "ended: budget; 2 pending, 15 tokens\n"
            "  go on with more: samuel run start --add-budget 5usd (or 20000tokens)\n",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_run_ends_in_the_same_way_with_one_agent_and_with_two(
    lanes: LaneProject, scenario: Scenario, reason: str, code: int, words: str, parallel: int
) -> None:
    exit_code, screen = scenario(lanes, parallel)
    assert (exit_code, last_words(screen)) == (code, f"{words}{REPORT}"), screen
    assert lanes.samuel("run", "status", "--json").data["exit_reason"] == reason


@pytest.mark.slow
def test_run_with_lanes_that_a_budget_ended_goes_on_in_lanes_by_the_command_that_it_names(
    lanes: LaneProject,
) -> None:
    lanes.prepare(BEHIND, settings="commit = true\nmax_tokens = 14", agent=STREAM, files={"mine.txt": "a\n"})
    lanes.task("any", f"echo x > work-$SAMUEL_TASK_ID.txt\n{RESULT}")
    assert "--add-budget" in lanes.start(lanes=2, code=None).screen
    lanes.write("mine.txt", "a change of a person\n")
    lanes.start("--add-budget", "20000tokens", lanes=0)
    assert lanes.statuses() == {"1": "completed", "2": "completed"}
    assert lanes.git("status", "--short") == " M mine.txt\n", "it stays as it is, and in no commit"


def test_what_was_announced_is_not_announced_again_after_a_kill_in_after_loop(lanes: LaneProject) -> None:
    hooks = {"iteration": f"echo it >> {lanes.outside}/announced", "loop": f"{HELD.format(outside=lanes.outside)}"}
    lanes.prepare(1, settings="commit = true")
    for name, body in hooks.items():
        declared = (
            f"id: {name}\nevent_type: after:{name}\nhandler: {{kind: script, command: ./scripts/{name}.sh}}\n"
        )
        lanes.write(f".system/hooks/{name}.yaml", declared)
        lanes.write(f"scripts/{name}.sh", f"#!/bin/sh\ncat > /dev/null\n{body}\n").chmod(0o755)
    lanes.git("add", "-A")
    lanes.git("commit", "-qm", "hooks")
    with lanes.running(lanes=0) as run:
        lanes.wait_for((lanes.outside / "begun").exists, run)
        lanes.kill(run)
    (lanes.outside / "go").touch()
    lanes.start(lanes=0)
    assert (lanes.outside / "announced").read_text() == "it\n"
