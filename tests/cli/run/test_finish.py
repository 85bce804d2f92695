"""`samuel run finish`: what becomes of the branch of a run that worked in the work tree of its user."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.conftest import Samuel
from tests.cli.run.conftest import CONFIG, GOOD, Workshop

from samuel.history.run_file import RunFile
from samuel.setup.run_state import run_file
from samuel.tasks.task import Task

Git = Callable[..., str]
IDENTITY = "[user]\n\tname = A Person\n\temail = person@example.org\n"


@pytest.fixture
def branched(workshop: Workshop, machine: Path, git: Git) -> Workshop:
    """A project whose runs have branches of their own."""
    (machine / ".gitconfig").write_text(IDENTITY)
    workshop.configure(CONFIG.replace('pause = "0s"', 'pause = "0s"\nbranch = true'))
    (workshop.root / "app.txt").write_text("app\n")
    git(workshop.root, "add", "app.txt")
    git(workshop.root, "commit", "-q", "-m", "begin")
    return workshop


@pytest.fixture
def done(samuel: Samuel, branched: Workshop) -> str:
    """The branch after a run that completed both tasks."""
    assert samuel("run", "start", "--yes").code == 0
    run = RunFile(branched.root / ".samuel/run").load()
    assert run is not None
    return f"samuel/{run.run_id}"


def short(git: Git, root: Path, name: str) -> str:
    return git(root, "rev-parse", "--short=12", name).strip()


def test_finish_merge_moves_the_branch_that_the_run_came_from_forward(samuel, branched, done, git):
    tip = short(git, branched.root, done)
    assert samuel("run", "finish", "--merge") == (0, f"merged {done} into main: {tip}\n", "")
    assert git(branched.root, "branch", "--show-current") == "main\n"
    assert git(branched.root, "log", "--format=%s") == "2 Two\n1 One\nbegin\n"
    assert git(branched.root, "branch", "--list", "samuel/*") == ""
    assert git(branched.root, "for-each-ref", "refs/samuel/branches") == ""
    assert git(branched.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("how", ["--merge", "--discard"])
def test_a_branch_that_was_finished_already_is_named_as_finished(samuel, branched, done, how):
    samuel("run", "finish", how)
    assert samuel("run", "finish", "--merge") == (
        2,
        "",
        f"error: the branch `{done}` of the last run is finished already: it was merged or removed\n"
        "`samuel run start` begins the next run\n",
    )


def test_before_the_first_run_there_is_no_branch_to_finish(samuel, workshop):
    ran = samuel("run", "finish", "--merge")
    assert ran == (2, "", "error: there is no run yet, so no branch to finish\n`samuel run start` begins one\n")


def test_a_run_without_a_branch_has_none_to_finish(samuel, workshop):
    assert samuel("run", "start", "--yes").code == 0
    ran = samuel("run", "finish", "--merge")
    assert (ran.code, "the last run has no branch of its own with work on it" in ran.err) == (2, True)


@pytest.mark.parametrize("flags", [("--merge", "--discard"), ("--discard", "--pr")])
def test_finish_with_two_ways_at_once_changes_nothing(samuel, branched, done, git, flags):
    ways = ", ".join(f"`{flag}`" for flag in ("--merge", "--pr", "--discard") if flag in flags)
    assert samuel("run", "finish", *flags) == (
        2,
        "",
        f"error: {ways} exclude each other\ngive one of them\n",
    )
    assert git(branched.root, "branch", "--show-current") == f"{done}\n"


@pytest.mark.parametrize("how", ["--merge", "--discard"])
def test_the_branch_of_a_run_that_did_not_end_is_not_finished(samuel, branched, done, git, how):
    file = run_file(branched.root / ".samuel/run")
    run = file.load()
    assert run is not None
    file.save(replace(run, exit_reason=None))
    assert samuel("run", "finish", how) == (
        2,
        "",
        f"error: run {run.run_id} did not end, so nothing was done to its branch\n"
        "`samuel run start` resumes it; finish its branch when it has ended\n",
    )
    assert git(branched.root, "branch", "--show-current") == f"{done}\n"


def test_finish_merge_json_names_both_branches_and_the_commit(samuel, branched, done, git):
    commit = git(branched.root, "rev-parse", done).strip()
    assert samuel("run", "finish", "--merge", "--json").json["data"] == {
        "branch": done,
        "from_branch": "main",
        "how": "merge",
        "commit": commit,
        "into": "main",
    }


def test_a_merge_that_only_moves_forward_leaves_uncommitted_changes_as_they_are(samuel, branched, done, git):
    (branched.root / "work-1").write_text("mine\n")
    (branched.root / "app.txt").write_text("staged\n")
    git(branched.root, "add", "app.txt")
    assert samuel("run", "finish", "--merge").code == 0
    assert git(branched.root, "status", "--porcelain") == "M  app.txt\n M work-1\n"


def diverge(root: Path, git: Git, name: str, content: str) -> None:
    """Give main a commit that the branch of the run does not have, by way of another work tree."""
    other = root.with_name("other")
    git(root, "worktree", "add", "-q", str(other), "main")
    (other / name).write_text(content)
    git(other, "add", name)
    git(other, "commit", "-q", "-m", "meanwhile")
    git(root, "worktree", "remove", str(other))


def test_a_branch_that_moved_on_is_merged_with(samuel, branched, done, git):
    diverge(branched.root, git, "beside.txt", "beside\n")
    assert samuel("run", "finish", "--merge").code == 0
    assert git(branched.root, "branch", "--show-current") == "main\n"
    assert {"beside.txt", "work-1", "work-2"} <= {path.name for path in branched.root.iterdir()}
    assert git(branched.root, "branch", "--list", "samuel/*") == ""


def test_a_conflict_leaves_everything_as_it_was(samuel, branched, done, git):
    diverge(branched.root, git, "work-1", "not x\n")
    ran = samuel("run", "finish", "--merge")
    assert ran.code == 1
    assert ran.err.startswith(f"error: `{done}` conflicts with `main`, so nothing was merged: ")
    assert git(branched.root, "branch", "--show-current") == f"{done}\n"
    assert git(branched.root, "status", "--porcelain") == ""
    assert (branched.root / "work-1").read_text() == "x\n"


def test_changes_that_a_merge_could_lose_are_named(samuel, branched, done, git):
    diverge(branched.root, git, "beside.txt", "beside\n")
    (branched.root / "app.txt").write_text("mine\n")
    assert samuel("run", "finish", "--merge") == (
        1,
        "",
        "error: nothing was merged: your work tree has uncommitted changes: `app.txt`\n"
        "commit or stash your changes first\n",
    )
    assert git(branched.root, "branch", "--show-current") == f"{done}\n"
    assert (branched.root / "app.txt").read_text() == "mine\n"


def test_finish_merge_works_from_the_branch_that_the_run_came_from(samuel, branched, done, git):
    git(branched.root, "switch", "-q", "main")
    assert samuel("run", "finish", "--merge").out.startswith(f"merged {done} into main: ")
    assert (branched.root / "work-1").exists()


def test_finish_merge_does_not_merge_into_a_branch_that_the_run_did_not_come_from(samuel, branched, done, git):
    git(branched.root, "switch", "-q", "-c", "feature", "main")
    assert samuel("run", "finish", "--merge") == (
        1,
        "",
        f"error: nothing was merged: `{done}` came from `main`, and `feature` is checked out\n"
        f"`git switch main` and try again; `git merge {done}` merges it into what is checked out\n",
    )
    assert git(branched.root, "log", "--format=%s", "feature") == "begin\n"


def test_a_branch_whose_origin_was_renamed_is_merged_where_the_user_says(samuel, branched, done, git):
    git(branched.root, "branch", "-m", "main", "trunk")
    assert samuel("run", "finish", "--merge") == (
        1,
        "",
        f"error: `{done}` came from `main`, which was renamed or removed, so there is no branch to merge into\n"
        "`git switch BRANCH`, then `samuel run finish --merge` merges it there\n",
    )
    git(branched.root, "switch", "-q", "trunk")
    assert samuel("run", "finish", "--merge").out.startswith(f"merged {done} into trunk: ")
    assert git(branched.root, "log", "--format=%s", "trunk") == "2 Two\n1 One\nbegin\n"


def test_a_branch_whose_origin_was_renamed_can_be_discarded(samuel, branched, done, git):
    git(branched.root, "branch", "-m", "main", "trunk")
    start, tip = (short(git, branched.root, name) for name in ("trunk", done))
    assert samuel("run", "finish", "--discard") == (
        0,
        f"removed {done}; `git branch NAME {tip}` brings it back\n"
        f"your HEAD is detached at {start}, because `main` was renamed or removed: `git switch BRANCH`\n",
        "",
    )
    assert git(branched.root, "branch", "--list", "samuel/*") == ""
    assert short(git, branched.root, "HEAD") == start
    assert not (branched.root / "work-1").exists()


@pytest.mark.parametrize("diverged", [False, True])
def test_merging_into_a_branch_that_another_work_tree_has_names_it_and_what_to_do(
    samuel, branched, done, git, diverged
):
    if diverged:
        diverge(branched.root, git, "beside.txt", "beside\n")
    other = branched.root.with_name("other")
    git(branched.root, "worktree", "add", "-q", str(other), "main")
    assert samuel("run", "finish", "--merge") == (
        1,
        "",
        f"error: nothing was merged: `main` is checked out in `{other}`\n"
        f"`git -C {other} merge {done}` merges it there, then `samuel run finish --discard` removes "
        "the branch here; or check out another branch there and try again\n",
    )
    assert git(branched.root, "branch", "--show-current") == f"{done}\n"
    assert git(other, "status", "--porcelain") == ""
    git(other, "merge", "-q", "--no-edit", done)
    ran = samuel("run", "finish", "--discard")
    assert (ran.code, f", because `main` is checked out in `{other}`: `git switch BRANCH`\n" in ran.out) == (
        0,
        True,
    )
    assert "1 One" in git(branched.root, "log", "--format=%s", "main")


def test_a_work_tree_that_was_deleted_by_hand_does_not_hide_what_to_do(samuel, branched, done, git):
    other = branched.root.with_name("other")
    git(branched.root, "worktree", "add", "-q", str(other), "main")
    shutil.rmtree(other)
    assert samuel("run", "finish", "--merge").err.endswith(
        f"`main` is checked out in `{other}`\nthat directory is gone: `git worktree prune`, then try again\n"
    )
    git(branched.root, "worktree", "prune")
    assert samuel("run", "finish", "--merge").code == 0


@pytest.mark.parametrize(("how", "word"), [("--merge", "merged"), ("--discard", "discarded")])
def test_the_branch_of_a_run_that_another_work_tree_has_is_left_alone(samuel, branched, done, git, how, word):
    other = branched.root.with_name("other")
    git(branched.root, "switch", "-q", "main")
    git(branched.root, "worktree", "add", "-q", str(other), done)
    assert samuel("run", "finish", how) == (
        1,
        "",
        f"error: nothing was {word}: `{done}` is checked out in `{other}`\n"
        f"call this there, or check out another branch there: `git -C {other} switch BRANCH`\n",
    )
    assert git(branched.root, "log", "--format=%s", "main") == "begin\n"


def test_finish_discard_goes_back_and_keeps_the_commits_in_a_ref(samuel, branched, done, git):
    tip = git(branched.root, "rev-parse", done).strip()
    assert samuel("run", "finish", "--discard") == (
        0,
        f"removed {done}; `git branch NAME {tip[:12]}` brings it back\n",
        "",
    )
    assert git(branched.root, "branch", "--show-current") == "main\n"
    assert not (branched.root / "work-1").exists()
    refs = git(branched.root, "for-each-ref", "--format=%(objectname)", "refs/samuel/branches").split()
    assert refs == [tip]
    assert git(branched.root, "branch", "--list", "samuel/*") == ""


def test_finish_discard_keeps_changes_that_are_not_of_the_run(samuel, branched, done, git):
    (branched.root / "app.txt").write_text("mine\n")
    assert samuel("run", "finish", "--discard").code == 0
    assert git(branched.root, "status", "--porcelain") == " M app.txt\n"


def test_finish_discard_refuses_when_uncommitted_changes_would_be_lost(samuel, branched, done, git):
    (branched.root / "work-1").write_text("mine\n")
    ran = samuel("run", "finish", "--discard")
    assert ran.code == 1
    assert ran.err.startswith("error: nothing was discarded: `main` cannot be checked out: ")
    assert "work-1" in ran.err
    assert ran.err.endswith("commit or stash your changes first\n")
    assert git(branched.root, "branch", "--show-current") == f"{done}\n"
    assert (branched.root / "work-1").read_text() == "mine\n"


def test_a_branch_of_a_detached_head_is_merged_into_what_is_checked_out_later(samuel, branched, git):
    git(branched.root, "switch", "-q", "--detach")
    assert samuel("run", "start", "--yes").code == 0
    ran = samuel("run", "finish", "--merge")
    assert ran.code == 1
    assert "came from a detached HEAD, so there is no branch to merge into\n" in ran.err
    git(branched.root, "switch", "-q", "main")
    assert samuel("run", "finish", "--merge").code == 0
    assert git(branched.root, "log", "--format=%s", "main") == "2 Two\n1 One\nbegin\n"


def test_a_branch_of_a_detached_head_is_discarded_where_head_was(samuel, branched, git):
    git(branched.root, "switch", "-q", "--detach")
    assert samuel("run", "start", "--yes").code == 0
    assert samuel("run", "finish", "--discard").code == 0
    assert git(branched.root, "branch", "--show-current") == ""
    assert git(branched.root, "rev-parse", "HEAD") == git(branched.root, "rev-parse", "main")


def test_an_older_branch_is_finished_when_it_is_checked_out(samuel, branched, done, git):
    git(branched.root, "switch", "-q", "main")
    branched.store.replace_all([Task(id="3", title="Three")])
    assert samuel("run", "start", "--yes").code == 0
    assert samuel("run", "finish", "--merge").code == 0
    git(branched.root, "switch", "-q", done)
    assert samuel("run", "finish", "--merge").out.startswith(f"merged {done} into main: ")


def test_the_end_of_the_run_status_and_report_name_the_branch_and_how_to_finish_it(samuel, branched, git):
    out = samuel("run", "start", "--yes").out
    name = git(branched.root, "branch", "--show-current").strip()
    finish = "samuel run finish --merge (or --pr, --discard)"
    assert out.startswith(f"on the branch {name}, from main\n")
    assert f"  the work is on the branch {name}, from main\n    {finish}\n" in out
    assert samuel("run", "status").out.endswith(f"branch      {name}, from main\n            {finish}\n")
    data = samuel("run", "status", "--json").json["data"]
    assert (data["branch"], data["from_branch"]) == (name, "main")
    report = samuel("run", "report", "--json").json["data"]
    assert (report["run"]["branch"], report["run"]["from_branch"]) == (name, "main")
    (item,) = report["waiting"]
    assert item["why"] == f"it is on the branch `{name}`, from `main`"
    assert [command["command"] for command in item["commands"]] == [
        f"samuel run finish {how}" for how in ("--merge", "--pr", "--discard")
    ]
    run_id = name.removeprefix("samuel/")
    page = (branched.root / ".samuel/run/reports" / run_id / "report.html").read_text()
    assert f"<code>{name}</code>" in page
    markdown = (branched.root / ".samuel/run/reports" / run_id / "report.md").read_text()
    assert "samuel run finish --merge" in markdown
    samuel("run", "finish", "--merge")
    assert "branch" not in samuel("run", "status").out


FORGE = """
memory=$(git for-each-ref --format='%(refname)' refs/samuel/branches)
git update-ref -d "$memory"
git update-ref "${memory%/from/*}/from/aaa" HEAD
"""


@pytest.mark.slow
def test_an_agent_cannot_change_which_branch_the_work_is_merged_into(samuel, branched, git):
    git(branched.root, "branch", "aaa")
    branched.agent(GOOD + FORGE)
    ran = samuel("run", "start", "--yes")
    assert "/from/aaa`: it is removed" in ran.out
    (memory,) = git(branched.root, "for-each-ref", "--format=%(refname)", "refs/samuel/branches").split()
    assert memory.endswith("/from/main")
    assert " into main: " in samuel("run", "finish", "--merge").out


def test_finish_takes_the_word_of_the_run_for_where_its_branch_came_from(samuel, branched, done, git):
    git(branched.root, "branch", "aaa", "main")
    (memory,) = git(branched.root, "for-each-ref", "--format=%(refname)", "refs/samuel/branches").split()
    git(branched.root, "update-ref", memory.replace("/from/main", "/from/aaa"), "main")
    assert " into main: " in samuel("run", "finish", "--merge").out


@pytest.mark.parametrize("how", ["--merge", "--discard"])
def test_a_branch_that_was_finished_does_not_wait_for_the_user_in_the_report(samuel, branched, done, how):
    samuel("run", "finish", how)
    report = samuel("run", "report", "--json").json["data"]
    assert report["waiting"] == []
    assert report["run"]["branch"] == done
    assert samuel("run", "report").out.startswith(
        "0 proven, 2 checked, 0 unverified, 0 blocked, 0 waiting; nothing waits"
    )
