"""What a person does while lanes are at work, and what a run never touches."""

from __future__ import annotations

import pytest
from tests.workspaces.lanes.project import LaneProject


def waiting(lanes: LaneProject) -> str:
    """A script that waits until the test lets it go on."""
    return f'while [ ! -e {lanes.outside}/go ]; do sleep 0.05; done; echo 1 > "work-$SAMUEL_TASK_ID.txt"'


@pytest.mark.slow
def test_a_commit_that_a_person_makes_meanwhile_is_built_upon(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task("any", waiting(lanes))
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        lanes.write("own.txt", "a person's\n")
        lanes.git("add", "own.txt")
        lanes.git("commit", "-q", "-m", "own work")
        own = lanes.git("rev-parse", "HEAD").strip()
        (lanes.outside / "go").touch()
        assert run.wait() == 0, lanes.screen

    assert lanes.git("branch", "--show-current").strip() == "main"
    assert own in lanes.git("log", "--first-parent", "--format=%H", "main")
    assert (lanes.root / "own.txt").read_text() == "a person's\n"
    assert (lanes.root / "work-2.txt").exists(), "a clean work tree follows"
    assert lanes.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_a_commit_that_a_person_makes_and_an_agent_merges_is_built_upon(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task("any", f"{waiting(lanes)}; git add -A; git commit -q -m mine; git merge -q --no-edit main")
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        lanes.write("own.txt", "a person's\n")
        lanes.git("add", "own.txt")
        lanes.git("commit", "-q", "-m", "own work")
        (lanes.outside / "go").touch()
        assert run.wait() == 0, lanes.screen

    assert set(lanes.statuses().values()) == {"completed"}
    assert {"own.txt", "work-1.txt", "work-2.txt"} <= {path.name for path in lanes.root.iterdir()}
    assert lanes.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_completed_tasks_are_marked_in_their_file_and_not_committed(lanes: LaneProject) -> None:
    boxes = "# Product\n\n## Tasks\n\n- [ ] 1 First\n- [ ] 2 Second\n"
    lanes.prepare(2, files={"prd.md": boxes})

    ran = lanes.start(lanes=2)

    assert (lanes.root / "prd.md").read_text() == boxes.replace("[ ]", "[x]")
    assert "`prd.md` has the marks of the completed tasks; commit it" in ran.screen
    assert lanes.git("status", "--porcelain") == " M prd.md\n"
    assert sorted(lanes.landed()) == ["1", "2"]


@pytest.mark.slow
def test_a_dirty_work_tree_is_not_touched_and_the_end_says_where_the_work_is(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.write("check.sh", "# mine\ntest ! -e broken\n")
    lanes.write("untracked.txt", "mine\n")

    ran = lanes.start()

    branch = f"samuel/{lanes.run_id()}"
    assert f"the work is on the branch {branch}, from main\n    samuel run finish --merge (or" in ran.out
    assert "your work tree has uncommitted changes: `check.sh`" in ran.out
    assert (lanes.root / "check.sh").read_text() == "# mine\ntest ! -e broken\n"
    assert (lanes.root / "untracked.txt").read_text() == "mine\n"
    assert lanes.git("rev-parse", "main") == lanes.git("rev-parse", "begin")
    assert sorted(lanes.landed(branch)) == ["1", "2"]


@pytest.mark.slow
def test_a_work_tree_that_becomes_dirty_meanwhile_stays_as_it_is(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task("any", waiting(lanes))
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        lanes.write("check.sh", "# being edited\n")
        (lanes.outside / "go").touch()
        assert run.wait() == 0, lanes.screen

    assert (lanes.root / "check.sh").read_text() == "# being edited\n"
    assert lanes.git("rev-parse", "main") == lanes.git("rev-parse", "begin")
    assert sorted(lanes.landed(f"samuel/{lanes.run_id()}")) == ["1", "2"]


@pytest.mark.slow
def test_a_person_on_another_branch_stays_there(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task("any", waiting(lanes))
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        lanes.git("switch", "-q", "-c", "elsewhere")
        (lanes.outside / "go").touch()
        assert run.wait() == 0, lanes.screen

    assert lanes.git("branch", "--show-current").strip() == "elsewhere"
    assert not (lanes.root / "work-1.txt").exists()
    assert "your work tree has `elsewhere` checked out" in lanes.screen
    assert sorted(lanes.landed(f"samuel/{lanes.run_id()}")) == ["1", "2"]


@pytest.mark.slow
def test_an_untracked_file_with_the_name_of_one_that_lands_is_kept(lanes: LaneProject) -> None:
    lanes.prepare(1)
    lanes.write("work-1.txt", "mine\n")

    lanes.start()

    assert (lanes.root / "work-1.txt").read_text() == "mine\n"
    assert lanes.landed(f"samuel/{lanes.run_id()}") == ["1"]


@pytest.mark.slow
def test_a_run_with_a_branch_of_its_own_is_merged_by_finish(lanes: LaneProject) -> None:
    lanes.prepare(2, settings="branch = true")

    lanes.start(lanes=0)  # one agent at a time can have a branch of its own too

    branch = f"samuel/{lanes.run_id()}"
    assert lanes.git("rev-parse", "main") == lanes.git("rev-parse", "begin")
    assert sorted(lanes.landed(branch)) == ["1", "2"]
    assert lanes.samuel("run", "finish", code=2).err.startswith("error: what becomes of the branch is missing")
    lanes.samuel("run", "finish", "--merge")
    assert sorted(lanes.landed("main")) == ["1", "2"]
    assert (lanes.root / "work-1.txt").exists()
    assert lanes.git("branch", "--list", "samuel/*") == ""


@pytest.mark.slow
def test_finish_merges_the_work_of_lanes_only_into_the_branch_that_it_came_from(lanes: LaneProject) -> None:
    lanes.prepare(1, settings="branch = true")
    lanes.start()
    branch = f"samuel/{lanes.run_id()}"
    lanes.git("switch", "-q", "-c", "feature")

    refused = lanes.samuel("run", "finish", "--merge", code=1).err

    assert refused.startswith(f"error: nothing was merged: `{branch}` came from `main`, and `feature` is")
    assert lanes.landed("feature") == []
    lanes.git("switch", "-q", "main")
    assert lanes.samuel("run", "finish", "--merge").out.startswith(f"merged {branch} into main: ")
    assert lanes.landed("main") == ["1"]


@pytest.mark.slow
def test_finish_names_the_lock_on_the_index_and_when_to_remove_it(lanes: LaneProject) -> None:
    lanes.prepare(1, settings="branch = true")
    lanes.start(lanes=2)
    lock = lanes.root / ".git/index.lock"
    lock.touch()

    refused = lanes.samuel("run", "finish", "--merge", code=1).err

    assert refused == (
        f"error: nothing was merged: another git, or an editor that it waits for, holds `{lock}`\n"
        f"end it, then try again; if no git is at work, `rm {lock}`\n"
    )
    lock.unlink()
    lanes.samuel("run", "finish", "--merge")


@pytest.mark.slow
def test_lanes_land_on_the_unfinished_branch_that_a_run_left_checked_out(lanes: LaneProject) -> None:
    lanes.prepare(3, settings="branch = true")
    lanes.start("--iterations", "1", lanes=0)
    branch = lanes.git("branch", "--show-current").strip()

    ran = lanes.start(lanes=2)

    assert lanes.git("branch", "--format=%(refname:short)").split() == ["main", branch]
    assert sorted(lanes.landed(branch)) == ["1", "2", "3"]
    assert (lanes.root / "work-3.txt").exists()
    assert f"the work is on the branch {branch}, from main" in ran.out
    lanes.samuel("run", "finish", "--merge")
    assert sorted(lanes.landed("main")) == ["1", "2", "3"]


@pytest.mark.slow
def test_finish_pushes_the_branch_for_a_pull_request_or_discards_it(lanes: LaneProject) -> None:
    lanes.prepare(1, settings="branch = true")
    gh = lanes.outside / "bin/gh"  # a machine may have a `gh` that nobody is logged in with
    gh.parent.mkdir()
    gh.write_text("#!/bin/sh\nexit 0\n")
    gh.chmod(0o755)
    lanes.env["PATH"] = f"{gh.parent}:{lanes.env['PATH']}"
    remote = lanes.outside / "remote.git"
    lanes.git("init", "-q", "--bare", str(remote))
    lanes.git("remote", "add", "origin", str(remote))
    lanes.start()
    branch = f"samuel/{lanes.run_id()}"

    lanes.samuel("run", "finish", "--pr")
    assert lanes.git("rev-parse", branch) == lanes.git("rev-parse", branch, cwd=remote)
    commit = lanes.git("rev-parse", branch).strip()
    assert lanes.samuel("run", "finish", "--discard", "--json").data["commit"] == commit
    assert lanes.git("branch", "--list", "samuel/*") == ""
    assert commit in lanes.git("for-each-ref", "--format=%(objectname)", f"refs/samuel/{lanes.run_id()}/landed/")


@pytest.mark.slow
def test_no_git_hook_runs_for_commits_and_landings(lanes: LaneProject) -> None:
    lanes.prepare(2)
    for name in ("pre-commit", "post-checkout", "post-merge", "reference-transaction", "post-index-change"):
        hook = lanes.root / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {lanes.outside}/hooks\n")
        hook.chmod(0o755)

    lanes.start()

    lanes.assert_sound(2)
    assert not (lanes.outside / "hooks").exists()


@pytest.mark.slow
def test_a_failed_attempt_stays_in_a_ref_and_lanes_are_pruned_without_losing_anything(lanes: LaneProject) -> None:
    lanes.prepare(2, settings="max_task_attempts = 1")
    lanes.task("1", "echo precious > untracked.txt; exit 1")

    lanes.start(code=1)

    assert lanes.git("show", f"refs/samuel/{lanes.run_id()}/1/1:untracked.txt") == "precious\n"
    listed = lanes.samuel("run", "lanes", "--json").data
    assert [entry["lane"] for entry in listed] == ["1", "2", "3", "landing"]
    lane = lanes.lane_directory() / "2"
    (lane / "left.txt").write_text("left behind\n")
    removed = lanes.samuel("run", "lanes", "prune", "--json").data
    ref = next(entry["ref"] for entry in removed if entry["lane"] == "2")
    assert lanes.git("show", f"{ref}:left.txt") == "left behind\n"
    assert not lane.exists()
    assert lanes.samuel("run", "lanes").out == "there are no lanes; `samuel run start --parallel N` makes them\n"
    assert lanes.git("worktree", "list").count("\n") == 1
