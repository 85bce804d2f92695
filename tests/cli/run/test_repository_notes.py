"""What happened to the repository in a run: on the screen, in `run status`, in `run show` and in the report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.run.conftest import CONFIG, GOOD, Workshop, steady

from samuel.tasks.store import TaskStore

COMMITTING = CONFIG.replace('pause = "0s"', 'pause = "0s"\ncommit = true')
LOCK = "the agent left `.git/index.lock`, and no git was at work: removed"


@pytest.fixture
def committed(workshop: Workshop, git) -> Workshop:
    """A project with a history, whose runs commit."""
    git(workshop.root, "config", "user.name", "t")
    git(workshop.root, "config", "user.email", "t@example.org")
    for number in (1, 2):
        (workshop.root / f"old-{number}").write_text("old\n")
        git(workshop.root, "add", "-A")
        git(workshop.root, "commit", "-q", "-m", f"old {number}")
    workshop.configure(COMMITTING)
    return workshop


def report_of(root: Path) -> str:
    (report,) = root.glob(".samuel/run/reports/*/report.md")
    return report.read_text()


@pytest.mark.slow
def test_a_lock_that_an_agent_left_is_removed_and_named_everywhere(samuel, committed, git):
    committed.agent(GOOD + 'test "$SAMUEL_TASK_ID" = 2 || touch .git/index.lock\n')
    ran = samuel("run", "start", "--yes")
    assert (ran.code, committed.statuses) == (0, ["completed", "completed"])
    assert f"  warning: {LOCK}\n" in ran.out
    assert [line.split(" ", 1)[1] for line in git(committed.root, "log", "--oneline").splitlines()][:2] == [
        "2 Two",
        "1 One",
    ]
    note = f"iteration 1, task 1: {LOCK}"
    assert f"repository  {note}\n" in samuel("run", "status").out
    assert samuel("run", "status", "--json").json["data"]["repository"] == [note]
    assert f"repository  {LOCK}\n" in samuel("run", "show", "1").out
    assert "## What happened to the repository\n" in report_of(committed.root)
    (page,) = committed.root.glob(".samuel/run/reports/*/report.html")
    assert "What happened to the repository" in page.read_text()


@pytest.mark.slow
def test_a_merge_that_a_person_has_under_way_is_named_before_and_the_failed_commits_after(samuel, committed, git):
    git(committed.root, "switch", "-q", "-c", "other", "HEAD~1")
    (committed.root / "other").write_text("x\n")
    git(committed.root, "add", "-A")
    git(committed.root, "commit", "-q", "-m", "other")
    git(committed.root, "switch", "-q", "main")
    git(committed.root, "merge", "-q", "--no-commit", "--no-ff", "other")
    committed.configure(COMMITTING.replace("commit = true", "branch = true"))
    refused = samuel("run", "start", "--yes")
    assert (refused.code, refused.err.count("under way"), "under way" in refused.out) == (1, 1, False)
    committed.configure(COMMITTING)
    ran = samuel("run", "start", "--yes")
    assert (
        "note: a merge is under way (`MERGE_HEAD` in the git directory), and is left so; "
        "while it is, the run cannot commit\n"
    ) in ran.err + ran.out
    assert (committed.root / ".git/MERGE_HEAD").exists()
    failed = "the commit of task 1 failed: "
    assert f"  warning: {failed}" in ran.out
    assert f"repository  {failed}" in samuel("run", "status").out
    assert samuel("run", "status", "--json").json["data"]["repository"][0].startswith(failed)
    assert f"no commit  {failed}" in samuel("run", "show", "1").out.replace("no commit   ", "no commit  ")
    waits = report_of(committed.root).partition("## Waits for you")[2].partition("##")[0]
    assert "the commit of task 1 failed" in waits


@pytest.mark.slow
def test_a_completed_task_whose_commit_left_the_branch_is_named_with_the_ref_that_has_it(samuel, committed, git):
    samuel("run", "start", "--yes", "--iterations", "1")
    commit = git(committed.root, "rev-parse", "HEAD").strip()
    git(committed.root, "reset", "-q", "--hard", "HEAD~1")
    words = (
        f"task 1 is completed, but its commit {commit[:12]} is not in HEAD any more; "
        f"`refs/samuel/RUN/landed/1` has it, `git cherry-pick {commit[:12]}` takes it over"
    )
    assert f"commits     {words}\n" in steady(samuel("run", "status").out)
    (lost,) = samuel("run", "status", "--json").json["data"]["lost_commits"]
    assert (lost["id"], lost["commit"], steady(lost["ref"])) == ("1", commit, "refs/samuel/RUN/landed/1")
    ran = samuel("run", "start", "--yes")
    assert f"note: {words}\n" in steady(ran.err + ran.out)
    git(committed.root, "branch", "samuel/run-1", commit)
    assert (
        "commits     task 1 is on `samuel/run-1`, which is not finished; `git switch samuel/run-1` goes there, "
        "then `samuel run finish --merge` merges it\n"
    ) in samuel("run", "status").out
    git(committed.root, "merge", "-q", "samuel/run-1")
    assert "commits " not in samuel("run", "status").out


@pytest.mark.slow
def test_a_run_names_the_tasks_that_are_on_the_unfinished_branch_of_the_last_one(samuel, committed, git):
    committed.configure(COMMITTING.replace("commit = true", "branch = true"))
    samuel("run", "start", "--yes", "--iterations", "1")
    first = git(committed.root, "branch", "--show-current").strip()
    assert "commits " not in samuel("run", "status").out, "it is checked out"
    git(committed.root, "switch", "-q", "main")
    assert "commits " not in samuel("run", "status").out, "the branch is named already"
    ran = samuel("run", "start", "--yes")
    assert (
        f"note: task 1 is on `{first}`, which is not finished; `git switch {first}` goes there"
        in ran.out + ran.err
    )
    assert f"commits     task 1 is on `{first}`" in samuel("run", "status").out
    git(committed.root, "switch", "-q", first)
    assert f"merged {first} into main" in samuel("run", "finish", "--merge").out


@pytest.mark.slow
def test_after_a_squash_merge_a_few_tasks_are_named_and_the_others_counted(samuel, committed, git):
    committed.agent(GOOD)
    samuel("run", "start", "--yes")
    store = TaskStore(committed.root / ".samuel/run")
    store.replace_all([replace(task, id=f"{task.id}.{number}") for task in store.load() for number in range(1, 4)])
    git(committed.root, "reset", "-q", "--soft", "HEAD~2")
    git(committed.root, "commit", "-q", "-m", "squashed")
    status = samuel("run", "status").out
    assert status.count("is not in HEAD any more") == 3
    assert "commits     3 more completed tasks are not in HEAD; `samuel run status --json` lists them\n" in status
    lost = samuel("run", "status", "--json").json["data"]["lost_commits"]
    assert [steady(row["ref"]) for row in lost] == ["refs/samuel/RUN/landed/1"] * 3 + [
        "refs/samuel/RUN/landed/2"
    ] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [(), ("init", "-q", "-b", "main"), ("init", "-q", "--object-format=sha256", "-b", "main")]
)
def test_a_repository_that_was_removed_or_replaced_is_named_with_the_tasks_whose_commits_are_gone(
    samuel, committed, git, damage
):
    samuel("run", "start", "--yes", "--iterations", "1")
    commit = git(committed.root, "rev-parse", "HEAD").strip()
    shutil.rmtree(committed.root / ".git")
    if damage:
        git(committed.root, *damage)
        git(committed.root, "config", "user.name", "t")
        git(committed.root, "config", "user.email", "t@example.org")
    words = (
        f"the commits of completed tasks are in no repository here: {commit[:12]} (task 1); "
        "`.git` was removed or replaced. Restore it from a copy"
    )
    assert f"commits     {words}" in samuel("run", "status").out
    assert samuel("run", "status", "--json").json["data"]["lost_commits"] == [
        {"id": "1", "commit": commit, "ref": ""}
    ]
    ran = samuel("run", "start", "--yes")
    assert f"note: {words}" in ran.err + ran.out


@pytest.mark.slow
def test_an_attempt_that_removed_the_repository_is_in_status_history_and_report(samuel, committed):
    committed.agent(GOOD + "rm -rf .git\n")
    ran = samuel("run", "start", "--yes")
    assert ran.code == 1
    assert "fatal:" not in ran.out + ran.err
    restore = "restore it before the next run"
    assert restore in ran.err
    status = samuel("run", "status").out
    assert "iterations  1\n" in status
    assert restore in status
    assert "aborted" in samuel("run", "show").out
    assert samuel("run", "history", "--json").json["data"][0]["iterations"] == 1
    waits = report_of(committed.root).partition("## Waits for you")[2].partition("\n## ")[0]
    assert restore in waits
    assert "once this is fixed" in waits
