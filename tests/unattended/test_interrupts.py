"""Ctrl-C at every step of a run that commits: the next start finishes, and all work is where it belongs."""

from __future__ import annotations

import stat

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import UnattendedProject, do

DONE = do(["solve"], ["claim"])

# The steps, and what a hook there has to answer.
HOOKS = {
    "before:loop": "{}",
    "iteration.gate": '{"continue": true}',
    "before:agent.invoke": "{}",
    "SessionEnd": "{}",
    "after:agent.invoke": "{}",
    "quality.check": '{"ok": true}',
    "after:iteration": "{}",
    "after:loop": "{}",
}


def interrupting(project: UnattendedProject) -> str:
    """A command that presses Ctrl-C, once."""
    armed = project.outside / "armed"
    armed.touch()
    return f'[ ! -e {armed} ] || {{ rm {armed}; kill -INT "$(cat {project.outside}/loop.pid)"; }}'


def add_hook(project: UnattendedProject, event: str, answer: str) -> None:
    script = (
        f'#!/bin/sh\nif [ "$1" = hook ]; then echo "{event}"; exit 0; fi\n'
        f"cat > /dev/null\n{interrupting(project)}\necho '{answer}'\n"
    )
    project.write(".samuel/hooks/interrupt", script)
    file = project.root / ".samuel/hooks/interrupt"
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    project.git("add", "-A", ".samuel/hooks")
    project.git("commit", "-q", "-m", "add a hook")


def check_the_end(project: UnattendedProject, *, tasks: tuple[str, ...] = ("1", "2")) -> None:
    """Every completed task's files are in its commit, and nothing of a person's is."""
    for id in tasks:
        task = project.tasks()[id]
        assert task["status"] == "completed"
        assert project.files_of(task["commit_sha"]) == {f"work{id}.py"}
        assert task["attempts"] == 0
    project.check_dirty_files()
    assert set(project.git("status", "--porcelain").splitlines()) == {" M NOTES.md", "?? draft.txt"}


@pytest.mark.slow
@pytest.mark.parametrize("event", HOOKS)
def test_after_ctrl_c_at_a_step_the_next_start_finishes_with_whole_commits(
    make_project: MakeProject, event: str
) -> None:
    project = make_project("One", "Two", settings="commit = true")
    add_hook(project, event, HOOKS[event])
    project.dirty_files()

    first = project.start(code=None)
    assert not (project.outside / "armed").exists()
    assert first.code == (0 if event == "after:loop" else 130), first.screen
    project.start()

    check_the_end(project)
    # An attempt that an agent had begun was finished, and counts.
    assert [call["task"] for call in project.calls()] == ["1", "2"]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before its work", "after its work", "after its claim"])
def test_ctrl_c_while_the_agent_works_lets_it_finish_and_its_work_counts(
    make_project: MakeProject, moment: str
) -> None:
    project = make_project("One", "Two", settings="commit = true")
    interrupt, solve, claim = ["interrupt"], ["solve"], ["claim"]
    order = {
        "before its work": do(interrupt, solve, claim),
        "after its work": do(solve, interrupt, claim),
        "after its claim": do(solve, claim, interrupt),
    }
    project.plan("1", order[moment], DONE)
    project.dirty_files()

    screen = project.start(code=130).screen
    assert "again to stop now" in screen
    assert project.statuses() == {"1": "completed", "2": "pending"}
    project.start()

    check_the_end(project)
    assert [call["task"] for call in project.calls()] == ["1", "2"]


@pytest.mark.slow
def test_a_second_ctrl_c_stops_at_once_and_what_the_agent_left_is_in_the_commit_of_its_task(
    make_project: MakeProject,
) -> None:
    project = make_project("One", "Two", settings="commit = true")
    project.plan("1", do(["solve"], ["mark", "working"], ["sleep", 60]), do(["claim"]))
    project.dirty_files()

    with project.running() as loop:
        project.wait_for("working", loop)
        loop.interrupt()
        project.wait_for(lambda: "again to stop now" in loop.screen, loop)
        loop.interrupt()
        assert loop.end().code == 130
    project.start()

    check_the_end(project)
    assert [call["task"] for call in project.calls()] == ["1", "1", "2"]


@pytest.mark.slow
def test_ctrl_c_while_a_check_runs_lets_the_attempt_finish(make_project: MakeProject) -> None:
    project = make_project(
        "One",
        "Two",
        settings='commit = true\nevidence = "in place"',
        checks='["sh ../outside/check", "make test"]',
    )
    armed = interrupting(project)
    # The checks also run before the first agent: Ctrl-C comes when there is work to check.
    (project.outside / "check").write_text(f"[ -e work1.py ] || exit 0\n{armed}\n")
    project.dirty_files()

    project.start(code=130)
    assert project.statuses() == {"1": "completed", "2": "pending"}
    project.start()

    check_the_end(project)
    assert [call["task"] for call in project.calls()] == ["1", "2"]


@pytest.mark.slow
def test_ctrl_c_while_the_run_waits_for_a_reset_stops_it_without_an_attempt(make_project: MakeProject) -> None:
    project = make_project("One", "Two", settings="commit = true", agents={"first": "claude"})
    project.plan("1", do(["limit", 12]), DONE)  # seconds, so that a busy machine can interrupt it in time
    project.dirty_files()

    with project.running() as loop:
        project.wait_for(lambda: "wait" in loop.screen, loop)
        loop.interrupt()
        assert loop.end().code == 130
    project.start()

    check_the_end(project)
    assert not project.has_mark("called-before-the-reset")


@pytest.mark.slow
def test_work_that_a_run_which_ended_with_failures_left_is_in_the_commit_of_the_next_run(
    make_project: MakeProject,
) -> None:
    project = make_project("One", "Two", settings="commit = true")
    project.plan("1", do(["solve"], ["exit", 1]), do(["claim"]))
    project.dirty_files()

    project.start("--iterations", "1", code=None)
    assert project.tasks()["1"]["attempts"] == 1
    project.start()

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert project.files_of(project.tasks()["1"]["commit_sha"]) == {"work1.py"}
    project.check_dirty_files()
    assert set(project.git("status", "--porcelain").splitlines()) == {" M NOTES.md", "?? draft.txt"}
