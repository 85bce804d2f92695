"""Sealed checks that cannot be used, or not hidden, are refused before an agent is paid; others are agreed to."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .conftest import CONFIG, GOOD, Workshop


@pytest.fixture
def acceptance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("acceptance")
    write(directory / "run", 'test -e "work-$SAMUEL_TASK_ID"\n')
    return directory


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}")
    file.chmod(0o755)


def sealed(workshop: Workshop, *commands: object, more: str = "") -> None:
    named = ", ".join(f'"{command}"' for command in commands)
    workshop.configure(CONFIG.replace("pause", f"sealed_checks = [{named}]\n{more}\npause"))


def refused(samuel, workshop: Workshop, *commands: object, more: str = "") -> str:
    """Why a run with these sealed checks does not start."""
    workshop.agent(f"echo called >> calls-out\n{GOOD}")
    sealed(workshop, *commands, more=more)
    ran = samuel("run", "start", "--yes")
    assert ran.code == 1, ran
    assert not (workshop.root / "calls-out").exists()
    return ran.err


def test_sealed_check_inside_the_project_is_refused_with_the_reason(samuel, workshop):
    write(workshop.root / "acceptance/run", "exit 0\n")
    assert refused(samuel, workshop, "acceptance/run") == (
        "error: the sealed check `acceptance/run` is inside the project, where an agent can read and change it\n"
        "move it out of the repository, and name it by a path such as `../acceptance/run`\n"
    )


def test_sealed_check_in_the_same_repository_is_refused(samuel, workshop):
    """An agent would find it among the objects of git."""
    below = workshop.root / "below"
    below.mkdir()
    write(workshop.root / "acceptance/run", "exit 0\n")
    (below / "samuel.toml").write_text(CONFIG.replace("pause", 'sealed_checks = ["../acceptance/run"]\npause'))
    write(below / "agent.sh", GOOD)
    TaskStore(below / ".samuel/run").replace_all([Task(id="1", title="One")])
    ran = samuel("-C", str(below), "run", "start", "--yes")
    assert (ran.code, "is inside the project" in ran.err) == (1, True), ran


def test_link_to_a_file_of_the_project_is_refused(samuel, workshop, acceptance):
    write(workshop.root / "run", "exit 0\n")
    (acceptance / "link").symlink_to(workshop.root / "run")
    assert "is inside the project" in refused(samuel, workshop, acceptance / "link")


def test_sealed_check_that_is_missing_is_refused(samuel, workshop, acceptance):
    err = refused(samuel, workshop, f"{acceptance}/walk --all")
    assert f"the sealed check `{acceptance}/walk --all` does not exist: there is no `{acceptance}/walk`\n" in err


def test_sealed_check_that_is_not_executable_is_refused(samuel, workshop, acceptance):
    (acceptance / "run").chmod(0o644)
    err = refused(samuel, workshop, acceptance / "run")
    assert f"the sealed check `{acceptance}/run` is not an executable file\n`chmod +x {acceptance}/run`" in err


@pytest.mark.parametrize("command", ["pytest -q", "'not closed"])
def test_sealed_check_that_is_no_path_is_refused(samuel, workshop, command):
    assert "does not name a program by its path" in refused(samuel, workshop, command)


def test_directory_that_has_the_project_in_it_cannot_be_hidden(samuel, workshop):
    write(workshop.root.parent / "run", "exit 0\n")
    err = refused(samuel, workshop, "../run")
    assert "is hidden from the agent, and contains the project\nput it into a directory of its own\n" in err


def test_directory_of_programs_cannot_be_hidden(samuel, workshop):
    assert "which is on PATH" in refused(samuel, workshop, "/bin/true")


def test_volume_that_shows_the_check_to_the_agent_is_refused(samuel, workshop, acceptance):
    more = f'sandbox = {{ kind = "bwrap", volumes = ["{acceptance.parent}:/work:ro"] }}'
    err = refused(samuel, workshop, acceptance / "run", more=more)
    assert f"to the agent: its volumes have `{acceptance.parent}`\n" in err


def test_sealed_checks_are_agreed_to_like_checks(samuel, workshop, acceptance):
    sealed(workshop, acceptance / "run")
    before = samuel("run", "start")
    assert (before.code, "is not trusted" in before.err or "agree" in before.err) == (1, True), before
    assert "sealed-checks:ralph" in samuel("trust").err
    assert samuel("run", "start", "--yes").code == 0
    write(acceptance / "walk", "exit 0\n")
    sealed(workshop, acceptance / "walk")
    assert "sealed-checks:ralph" in samuel("run", "start").err


def test_run_without_a_sandbox_says_that_nothing_is_sealed(samuel, workshop, acceptance):
    sealed(workshop, acceptance / "run")
    ran = samuel("run", "start", "--yes")
    assert ran.code == 0
    assert "warning: sealed: no (the agent works without a sandbox, and can read them)" in ran.out + ran.err
    assert "check `run` (sealed): ok" in ran.out
    assert "check `run` (sealed) before the work: fails, as it should" in ran.out
    screen = samuel("run", "show", "1").out
    assert "sealed: no" in screen
    assert "sealed on new" in screen
    assert [task.grade for task in workshop.store.load()] == ["proven", "proven"]


def test_two_checks_of_the_same_name_are_told_apart(samuel, workshop, acceptance, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write(other / "run", "exit 1\n")
    workshop.store.replace_all([Task(id="1", title="One")])
    sealed(workshop, acceptance / "run", other / "run")
    samuel("run", "start", "--yes", "--iterations", "1")
    assert "the sealed check `run (2)` ended with exit code 1" in workshop.store.load()[0].last_failure
