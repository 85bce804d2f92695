"""Two methodologies in one project: each has its tasks, its settings and its state."""

from __future__ import annotations

import os
import subprocess

import pytest

from samuel.base.paths import User
from samuel.files.lock import held
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .conftest import CONFIG, GOOD, REAL

SECOND = CONFIG + '\n[methodology.tdd]\nagent = "mine"\npause = "0s"\n'


@pytest.fixture
def two(samuel, workshop):
    """A project that has run once, and gets a second methodology now."""
    assert samuel("run", "start", "--yes", "--iterations", "1").code == 0
    workshop.configure(SECOND)
    return workshop


@pytest.mark.slow
def test_a_second_methodology_moves_the_state_of_the_first(samuel, two, project):
    assert samuel("run", "tasks").out.splitlines()[1].startswith("1   completed")
    run = project / ".samuel/run"
    assert sorted(os.listdir(run)) == [".gitignore", "journal", "ralph", "run.lock", "state.lock"]
    assert {"prd.toon", "progress.md", "run.json", "logs", "summary.md"} <= set(os.listdir(run / "ralph"))
    assert ", max_iterations\n" in samuel("run", "status").out
    assert samuel("run", "start").code == 0
    assert [task.status for task in TaskStore(run / "ralph").load()] == ["completed", "completed"]


def test_the_state_moves_to_the_methodology_of_the_last_run(samuel, two, project):
    """Also when the default has become another one in the meantime."""
    two.configure(f'default_methodology = "tdd"\n{SECOND}')
    assert samuel("run", "tasks").err.startswith(
        "error: there are no tasks yet: `PROJECT/.samuel/run/tdd/prd.toon`"
    )
    assert (project / ".samuel/run/ralph/prd.toon").exists()


def test_an_unconfigured_methodology_in_run_json_does_not_decide_where_state_moves(samuel, two, project):
    file = project / ".samuel/run/run.json"
    file.write_text(file.read_text().replace('"methodology":"ralph"', '"methodology":"../../away"'))
    User.from_environment().record(file.parent).joinpath("run.json").unlink()
    assert samuel("run", "tasks").code == 0
    assert not (project / "away").exists()
    assert (project / ".samuel/run/ralph/prd.toon").exists()


@pytest.mark.slow
def test_a_killed_run_is_resumed_where_it_was_moved_to(samuel, workshop, project):
    workshop.agent("touch begun; sleep 60 & wait\n")
    with workshop.start("--yes") as process:
        workshop.wait_for("begun")
        process.kill()
        process.wait()
    workshop.agent(GOOD)
    workshop.configure(SECOND)
    ran = samuel("run", "start", "--yes")
    assert (ran.code, ran.out.startswith("resuming run run-")) == (0, True)
    assert [task.status for task in TaskStore(project / ".samuel/run/ralph").load()] == ["completed", "completed"]


def test_the_state_of_a_run_in_progress_is_not_moved(samuel, two, project):
    with held(project / ".samuel/run/run.lock", note="samuel run start, ralph"):
        ran = samuel("run", "tasks")
    assert (ran.code, "(samuel run start, ralph)" in ran.err) == (1, True)
    assert (project / ".samuel/run/prd.toon").exists()


@pytest.mark.slow
def test_an_agent_finds_the_tasks_of_its_own_run(samuel, two, project):
    own = TaskStore(project / ".samuel/run/tdd")
    own.replace_all([Task(id="7", title="Seven")])
    assert samuel("run", "start", "--yes", "--methodology", "tdd").code == 0
    assert [task.status for task in own.load()] == ["completed"]
    assert (project / ".samuel/run/tdd/run.json").exists()
    assert [task.status for task in TaskStore(project / ".samuel/run/ralph").load()] == ["completed", "pending"]


def test_one_that_appears_during_a_run_changes_nothing_for_its_agent(three, project, put):
    """The run has its state where it began, whatever samuel.toml says by now."""
    put("samuel.toml", SECOND)
    inside = {"SAMUEL_RUN_ID": "run-7", "SAMUEL_TASK_ID": "1.10", "SAMUEL_METHODOLOGY": "ralph"}
    with held(project / ".samuel/run/run.lock"):
        done = subprocess.run(
            [*REAL, "run", "done", "1.10"], env={**os.environ, **inside}, capture_output=True, text=True
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert three.load()[1].claimed
