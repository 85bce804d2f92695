"""`samuel run pilot`: no PRD needed, the agent finds its own work."""

from __future__ import annotations

import re

import pytest

from samuel.tasks.store import TaskStore

from .conftest import CONFIG, GOOD, steady

AGENT = f"""\
cat > "prompt-$SAMUEL_ITERATION"
if [ "$SAMUEL_MODE" = discovery ]; then
  if [ ! -f found ]; then touch found work-1; for n in 1 2 3; do samuel run enqueue "Find $n" || true; done; fi
else
{GOOD}fi
"""


@pytest.fixture
def fresh(workshop):
    """Nothing but a project: no tasks."""
    workshop.store.path.unlink()
    workshop.agent(AGENT)
    return workshop


@pytest.mark.slow
def test_pilot_prints_a_header_and_a_result_for_every_iteration(samuel, fresh, git):
    fresh.configure(CONFIG.replace('quality_checks = ["test ! -f wrong"]\n', ""))
    ran = samuel("run", "pilot", "--yes", "--max-discovery-tasks", "2")
    assert (ran.code, steady(ran.out), ran.err) == (
        0,
        "0 tasks to do, 0 done, at most 25 iterations\n"
        "iteration 1/25: looking for tasks\n"
        "  agent: exit code 0\n"
        "  put away what the discovery changed (2 files): git show refs/samuel/RUN/discovery/1\n"
        "  found 2 new tasks\n"
        "iteration 2/25: 1 Find 1\n"
        "  agent: exit code 0\n"
        "  completed (unverified): no checks are configured; 1 of 2 tasks completed\n"
        "iteration 3/25: looking for tasks\n"
        "  agent: exit code 0\n"
        "  put away what the discovery changed (1 file): git show refs/samuel/RUN/discovery/3\n"
        "  found no new tasks\n"
        "iteration 4/25: 2 Find 2\n"
        "  agent: exit code 0\n"
        "  completed (unverified): no checks are configured; 2 of 2 tasks completed\n"
        "iteration 5/25: looking for tasks\n"
        "  agent: exit code 0\n"
        "  put away what the discovery changed (1 file): git show refs/samuel/RUN/discovery/5\n"
        "  found no new tasks\n"
        "ended: discovery_exhausted after 5 iterations; 2 completed (2 unverified)\n"
        "  report: .samuel/run/reports/RUN/report.html\n",
        "",
    )
    (ref,) = re.findall("git show (.*/discovery/1)", ran.out)
    changed = git(fresh.root, "show", "--format=", "--name-only", ref).splitlines()
    assert changed == ["found", "work-1"]


def test_a_discovery_that_fails_prints_why_and_no_result(samuel, fresh):
    fresh.agent('echo "out of credit" >&2\nexit 3\n')
    ran = samuel("run", "pilot", "--yes", "--iterations", "1")
    assert (ran.code, steady(ran.out)) == (
        1,
        "0 tasks to do, 0 done, at most 1 iteration\n"
        "  check `test ! -f wrong`: ok (0.0s)\n"
        "baseline: the checks pass\n"
        "iteration 1/1: looking for tasks\n"
        "  agent: exit code 3 (mine: out of credit)\n"
        "  agent_failed: out of credit\n"
        "  log: .samuel/run/logs/RUN/iteration-0001.err\n"
        "ended: max_iterations after 1 iteration\n"
        "  report: .samuel/run/reports/RUN/report.html\n",
    )


@pytest.mark.slow
def test_one_new_task_is_counted_in_the_singular(samuel, fresh):
    ran = samuel("run", "pilot", "--yes", "--iterations", "3", "--max-discovery-tasks", "1")
    assert "  found 1 new task\n" in ran.out
    assert "  completed (checked): 1 of 1 task completed\n" in ran.out


@pytest.mark.slow
def test_pilot_needs_no_prd_and_works_on_the_tasks_it_found(samuel, fresh):
    ran = samuel("run", "pilot", "--yes", "--focus", "error messages", "--max-discovery-tasks", "2", "--json")
    data = ran.json["data"]
    assert ran.code == 0
    assert (data["exit_reason"], data["outcomes"]) == ("discovery_exhausted", {"completed": 3, "incomplete": 2})
    tasks = fresh.store.load()
    assert [(task.title, task.status, task.source) for task in tasks] == [
        ("Find 1", "completed", "discovery"),
        ("Find 2", "completed", "discovery"),
    ]
    prompt = (fresh.root / "prompt-1").read_text()
    assert "Look above all at: error messages\n" in prompt
    assert "Enqueue at most 2 tasks" in prompt


@pytest.mark.slow
def test_pilot_options_apply_to_one_run_and_leave_samuel_toml_unchanged(samuel, fresh):
    before = (fresh.root / "samuel.toml").read_bytes()
    samuel("run", "pilot", "--yes", "--focus", "x", "--discover-interval", "1", "--iterations", "2")
    assert (fresh.root / "samuel.toml").read_bytes() == before
    assert "discovery" in (fresh.root / "prompt-2").read_text().splitlines()[0]


def test_run_start_is_a_pilot_if_samuel_toml_enables_it(samuel, fresh):
    fresh.configure(CONFIG + '[methodology.ralph.pilot]\nenabled = true\nfocus = "speed"\n')
    TaskStore(fresh.root / ".samuel/run").replace_all(())
    assert samuel("run", "start", "--yes", "--iterations", "1").code == 0
    assert "Look above all at: speed\n" in (fresh.root / "prompt-1").read_text()
