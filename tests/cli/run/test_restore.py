"""`samuel run restore`: what a failed attempt left comes back, and nothing else is overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base import paths
from samuel.checks.put_back import PutBack
from samuel.files.lock import held
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.history.attempts import Attempts
from samuel.process import environment
from samuel.tasks.store import TaskStore


@pytest.fixture
def failed(project: Path, three: TaskStore, git: Callable[..., str]) -> Path:
    """Task 2 failed twice and was put away."""
    git(project, "init", "-q", "-b", "main")
    (project / ".gitignore").write_text(".samuel/run/\n")
    (project / "app.py").write_text("app\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    record = paths.User.from_environment().record(project / ".samuel/run")
    record.mkdir(parents=True, exist_ok=True)
    attempts = Attempts(Trees(Git(project, environment.clean()), record / "trees"), "run-1")
    attempts.begin()
    for number, content in ((1, "first try\n"), (2, "second try\n")):
        attempts.start("2")
        (project / "app.py").write_text(content)
        (project / "new").mkdir(exist_ok=True)
        (project / "new/helper.py").write_text(f"helper {number}\n")
        attempts.observe()
        attempts.keep("2", number)
    attempts.put_away("2", 2)
    assert not (project / "new").exists()
    return project


def test_run_restore_puts_the_last_attempt_back(samuel, failed, git):
    assert samuel("run", "restore", "2") == (
        0,
        "restored 2 files of attempt 2 of task `2`\n  app.py\n  new/helper.py\n",
        "",
    )
    assert (failed / "app.py").read_text() == "second try\n"
    assert (failed / "new/helper.py").read_text() == "helper 2\n"
    assert git(failed, "status", "--porcelain") == " M app.py\n?? new/\n"
    assert samuel("run", "restore", "2") == (0, "restored 0 files of attempt 2 of task `2`\n", "")


def test_run_restore_has_the_tests_that_were_put_back(samuel, failed, git):
    """An attempt renamed a function in the code and in its test, and was refused for the test."""
    trees = Trees(
        Git(failed, environment.clean()),
        paths.User.from_environment().record(failed / ".samuel/run") / "trees",
    )
    (failed / "tests").mkdir()
    (failed / "tests/test_app.py").write_text("clamp\n")
    git(failed, "add", ".")
    git(failed, "commit", "-q", "-m", "tests")
    attempts = Attempts(trees, "run-2")
    attempts.begin()
    attempts.start("1")
    (failed / "app.py").write_text("clip\n")
    (failed / "tests/test_app.py").write_text("clip\n")
    attempts.observe()
    assert PutBack(trees, attempts, lambda: None).verified(["tests/test_app.py"]) == []
    attempts.observe()
    attempts.put_away("1", 1)
    assert samuel("run", "restore", "1") == (
        0,
        "restored 2 files of attempt 1 of task `1`\n  app.py\n  tests/test_app.py\n",
        "",
    )
    assert (failed / "tests/test_app.py").read_text() == "clip\n"


def test_run_restore_json_has_the_ref_and_the_paths(samuel, failed):
    assert samuel("run", "restore", "2", "--attempt", "1", "--json").json == {
        "ok": True,
        "data": {
            "task": "2",
            "attempt": 1,
            "run_id": "run-1",
            "ref": "refs/samuel/run-1/2/1",
            "paths": ["app.py", "new/helper.py"],
        },
        "warnings": [],
        "error": None,
    }
    assert (failed / "app.py").read_text() == "first try\n"


@pytest.mark.slow
def test_run_restore_refuses_to_overwrite_what_changed_since(samuel, failed):
    (failed / "app.py").write_text("edited\n")
    assert samuel("run", "restore", "2") == (
        1,
        "",
        "error: changed since the attempt, so nothing was restored: `app.py`\n"
        "overwrite them with `--force`, or look at `git show refs/samuel/run-1/2/2`\n",
    )
    assert (failed / "app.py").read_text() == "edited\n"
    assert not (failed / "new").exists()
    assert samuel("run", "restore", "2", "--force").code == 0
    assert (failed / "app.py").read_text() == "second try\n"


def test_run_restore_of_what_was_never_kept(samuel, failed):
    hint = "`git for-each-ref refs/samuel` lists what is\n"
    assert samuel("run", "restore", "1") == (1, "", f"error: no attempt of task `1` is kept\n{hint}")
    assert samuel("run", "restore", "2", "--attempt", "7") == (
        1,
        "",
        f"error: attempt 7 of task `2` is not kept\n{hint}",
    )
    assert samuel("run", "restore", "nine").code == 2


def test_run_restore_without_git(samuel, three):
    assert samuel("run", "restore", "2") == (
        1,
        "",
        "error: no attempt of task `2` is kept\n`git for-each-ref refs/samuel` lists what is\n",
    )


def test_run_restore_is_refused_inside_a_run(samuel, failed, inside):
    inside(TASK_ID="2", METHODOLOGY="ralph")
    assert samuel("run", "restore", "2") == (
        2,
        "",
        "error: `run restore` does not work inside run run-7\ncall it when the run is over\n",
    )
    assert (failed / "app.py").read_text() == "app\n"


def test_run_restore_is_refused_while_a_run_is_under_way(samuel, failed):
    with held(failed / ".samuel/run/run.lock", note="samuel run start"):
        answer = samuel("run", "restore", "2")
    assert answer.code == 1
    assert "run.lock` is locked by" in answer.err
    assert (failed / "app.py").read_text() == "app\n"


@pytest.mark.slow
def test_files_that_were_restored_are_the_persons_in_the_next_run(samuel, failed):
    samuel("run", "restore", "2")
    record = paths.User.from_environment().record(failed / ".samuel/run")
    next_run = Attempts(Trees(Git(failed, environment.clean()), record / "trees"), "run-2")
    assert next_run.begin() == ("app.py", "new/helper.py")
