"""What an agent does to the repository it works in: the run goes on, or stops with a clear error."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.run.conftest import GOOD, LoopProject

from samuel.files.atomic import Disk
from samuel.files.put_inside import remove_path
from samuel.git import trees
from samuel.history.notices import IterationSettled
from samuel.testing import Recorder

GIT = "git -c user.name=t -c user.email=t@example.org"


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def changed_by(loop: LoopProject, script: str, iterations: int = 1) -> list[list[str]]:
    """The changed files that SessionStop was told of, for each iteration of an agent that runs this first."""
    loop.tasks("1", "2")
    loop.agent(script + "\n" + GOOD)
    recorder = Recorder("SessionStop")
    run = loop.run(iterations, handlers=[recorder])
    assert (run.exit_reason, set(outcomes(loop))) in [
        ("max_iterations", {"completed"}),
        ("queue_empty", {"completed"}),
    ]
    return [event.changed_files for event in recorder.events]


class TestGoesOn:
    @pytest.mark.parametrize("iterations", [1, 2])
    def test_a_run_goes_on_after_git_init_in_a_project_without_a_repository(
        self, loop: LoopProject, iterations: int
    ) -> None:
        shutil.rmtree(loop.root / ".git")
        (loop.root / "mine.txt").write_text("untouched")
        changed = changed_by(loop, "git init -q .; echo x > new.txt", iterations)
        assert {"new.txt", "work-1.txt"} <= set(changed[0])
        assert not [path for path in changed[0] if path.startswith(".git/") or path == "mine.txt"]
        assert all("work-2.txt" in paths for paths in changed[1:])

    def test_a_run_goes_on_after_git_init_and_a_commit(self, loop: LoopProject) -> None:
        shutil.rmtree(loop.root / ".git")
        changed = changed_by(loop, f"git init -q .; {GIT} add -A; {GIT} commit -qm begin")
        assert "work-1.txt" in changed[0]

    def test_what_was_there_before_git_init_is_not_committed_by_the_run(self, loop: LoopProject) -> None:
        shutil.rmtree(loop.root / ".git")
        (loop.root / ".env").write_text("secret")
        loop.configure("commit = true")
        changed_by(loop, "git init -q .; git config user.name t; git config user.email t@example.org")
        listed = subprocess.run(["git", "ls-files"], cwd=loop.root, capture_output=True, text=True, check=True)
        assert listed.stdout == "work-1.txt\n"

    @pytest.mark.parametrize("iterations", [1, 2])
    def test_a_run_goes_on_after_git_init_below_the_root_of_its_repository(
        self, loop: LoopProject, iterations: int
    ) -> None:
        """The project is a directory of a larger repository, and the agent hides that behind one of its own."""
        (loop.root / ".git").rename(loop.root.parent / ".git")
        changed = changed_by(loop, "git init -q .; echo x > new.txt", iterations)
        assert {"new.txt", "work-1.txt"} <= set(changed[0])
        assert all("work-2.txt" in paths for paths in changed[1:])

    def test_a_run_goes_on_after_git_init_in_a_directory_of_the_project(self, loop: LoopProject) -> None:
        changed = changed_by(loop, "mkdir -p inner; git -C inner init -q .; echo x > inner/new.txt")
        assert "work-1.txt" in changed[0]

    @pytest.mark.parametrize(
        "script",
        [
            f"{GIT} checkout -q --orphan other",
            f"{GIT} checkout -q --detach",
            f"echo x > a; {GIT} add a; {GIT} commit -qm a; {GIT} reset -q --hard HEAD~1",
            f"{GIT} commit -q --amend -m other; {GIT} reflog expire --expire=now --all; {GIT} gc -q --prune=now",
            f"{GIT} update-ref -d HEAD",
            f"{GIT} checkout -q --orphan o; {GIT} commit -qm o; {GIT} branch -D main; "
            f"{GIT} reflog expire --expire=now --all; {GIT} gc -q --prune=now",
            f"{GIT} rev-parse HEAD > .git/shallow",
            f"rm -rf .git; git init -q .; {GIT} add -A; {GIT} commit -qm anew",
            f"{GIT} stash -q -u || true",
            "rm -f .git/index",
            "echo garbage > .git/index",
            "echo garbage > .git/HEAD",
        ],
    )
    @pytest.mark.sampled(every=3)
    def test_whatever_it_does_to_the_history(self, loop: LoopProject, script: str) -> None:
        assert "work-1.txt" in changed_by(loop, script)[0]

    def test_a_commit_that_is_gone_does_not_hide_what_changed(self, loop: LoopProject) -> None:
        (loop.root / "old.txt").write_text("old")
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        subprocess.run(["git", "commit", "-qm", "old"], cwd=loop.root, check=True)
        script = (
            f"echo x > new.txt; {GIT} add new.txt; {GIT} commit -q --amend -m other; "
            f"{GIT} reflog expire --expire=now --all; {GIT} gc -q --prune=now"
        )
        changed = changed_by(loop, script)[0]
        assert ("new.txt" in changed, "old.txt" in changed) == (True, False)


class TestStops:
    @pytest.mark.parametrize("script", ["rm -rf .git", "mv .git gone"])
    def test_without_its_repository_the_iteration_is_aborted_and_the_run_ends(
        self, loop: LoopProject, script: str
    ) -> None:
        loop.tasks("1", "2")
        loop.agent(GOOD + script + "\n")
        run = loop.run()
        assert (run.exit_reason, run.iterations_run) == ("error", 1)
        assert run.exit_message.startswith(f"the git repository `{loop.root}/.git` cannot be used: ")
        assert "restore it before the next run" in run.exit_message
        assert outcomes(loop) == ["aborted"]
        assert loop.statuses() == {"1": "pending", "2": "pending"}
        assert "[loop.ended] error: the git repository" in loop.progress()

    def test_a_repository_further_up_does_not_take_its_place(self, loop: LoopProject) -> None:
        subprocess.run(["git", "init", "-q", "."], cwd=loop.root.parent, check=True)
        loop.tasks("1")
        loop.agent(GOOD + "rm -rf .git\n")
        assert loop.run().exit_reason == "error"

    def test_when_a_check_removes_it_the_run_ends_and_the_task_is_pending(self, loop: LoopProject) -> None:
        loop.configure('evidence = "in place"\nquality_checks = ["test ! -f work-1.txt || rm -rf .git"]')
        loop.tasks("1", "2")
        run = loop.run()
        assert (run.exit_reason, run.iterations_run) == ("error", 1)
        assert (loop.root / "seen-1.md").exists()
        assert loop.statuses() == {"1": "pending", "2": "pending"}

    def test_when_a_check_removes_it_before_the_first_agent_no_agent_starts(self, loop: LoopProject) -> None:
        loop.configure('evidence = "in place"\nquality_checks = ["rm -rf .git"]')
        loop.tasks("1", "2")
        run = loop.run()
        assert (run.exit_reason, run.iterations_run) == ("error", 0)
        assert not (loop.root / "seen-1.md").exists()


def test_an_attempt_that_is_interrupted_while_it_is_put_away_is_kept_whole(
    loop: LoopProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop.configure("max_task_attempts = 1")
    loop.agent("echo a > a.txt; echo b > b.txt; exit 3")
    loop.tasks("1")
    removed_paths = []

    def interrupted(root: Path, path: str, disk: Disk) -> None:
        if removed_paths:
            raise KeyboardInterrupt
        removed_paths.append(path)
        remove_path(root, path, disk)

    with monkeypatch.context() as patched:
        patched.setattr(trees, "remove_path", interrupted)
        run = loop.run(3)
    assert (run.exit_reason, removed_paths) == ("interrupted", ["a.txt"])
    loop.run(3)
    shown_files = subprocess.run(
        ["git", "show", "--format=", "--name-only", f"refs/samuel/{run.run_id}/1/1"],
        cwd=loop.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown_files.stdout.split() == ["a.txt", "b.txt"]
    assert not (loop.root / "b.txt").exists()
