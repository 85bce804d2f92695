"""What agents do to their own lanes, and what in the user's repository is in the way of a run."""

from __future__ import annotations

import subprocess

import pytest
from tests.workspaces.lanes.project import LaneProject

WORK = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"\n'
ONCE = 'if mkdir "{outside}/once" 2>/dev/null; then {damage}; fi\n'

REMOVED = 'rm -rf "$PWD"; exit 0'


@pytest.mark.slow
@pytest.mark.parametrize("damage", [REMOVED, "rm .git", "rm -rf .git .samuel"])
def test_an_agent_that_damages_its_lane_costs_an_attempt_and_not_the_run(lanes: LaneProject, damage: str) -> None:
    lanes.prepare(4, files={".gitignore": ".samuel/run/\n"})
    lanes.task("2", ONCE.format(outside=lanes.outside, damage=damage) + WORK)
    lanes.start(lanes=2)

    lanes.assert_sound(4)
    assert len(lanes.calls()) == 5
    assert lanes.samuel("run", "status", "--json").data["outcomes"] == {"completed": 4, "aborted": 1}
    assert "the work tree is gone" in lanes.prompts("2")[1], "the next attempt reads why"


@pytest.mark.slow
def test_an_agent_that_removes_the_state_of_its_lane_is_judged_by_its_work(lanes: LaneProject) -> None:
    lanes.prepare(4, files={".gitignore": ".samuel/run/\n"})
    lanes.task("2", ONCE.format(outside=lanes.outside, damage="git clean -fdxq") + WORK)
    lanes.start(lanes=2)

    lanes.assert_sound(4)
    assert len(lanes.calls()) == 4


@pytest.mark.slow
def test_an_agent_that_always_damages_its_lane_is_blocked_and_the_others_land(lanes: LaneProject) -> None:
    lanes.prepare(4, files={".gitignore": ".samuel/run/\n"}, settings="max_task_attempts = 2")
    lanes.task("2", REMOVED)
    lanes.start(lanes=2, code=None)

    statuses = lanes.statuses()
    assert [statuses[task] for task in "1234"] == ["completed", "blocked", "completed", "completed"]


@pytest.mark.slow
def test_a_lock_that_a_git_of_an_agent_left_in_its_lane_is_removed(lanes: LaneProject) -> None:
    lanes.prepare(4)
    lanes.task("1", 'touch "$(git rev-parse --git-dir)/index.lock"\n' + WORK)
    lanes.start(lanes=2)

    lanes.assert_sound(4)
    assert len(lanes.calls()) == 4


@pytest.mark.slow
def test_work_lands_elsewhere_while_a_git_holds_the_index_of_the_users_work_tree(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lock = lanes.root / ".git/index.lock"
    lanes.task("any", f"touch {lock}\n{WORK}")  # as `git commit` does while its editor is open
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=lanes.root, stdin=subprocess.PIPE):
        ran = lanes.start(lanes=2)
    lock.unlink()

    branch = f"samuel/{lanes.run_id()}"
    lanes.assert_sound(2, branch)
    assert f"work lands on {branch}: another git, or an editor that it waits for" in ran.screen
    assert lanes.git("rev-parse", "main") == lanes.git("rev-parse", "begin")
    assert lanes.git("status", "--porcelain") == "", "the work tree is not behind its branch"


@pytest.mark.slow
def test_a_commit_that_cannot_be_signed_ends_the_run_before_attempts_are_wasted(lanes: LaneProject) -> None:
    lanes.prepare(4)
    lanes.git("config", "commit.gpgsign", "true")
    lanes.git("config", "gpg.program", "false")
    ran = lanes.start(lanes=2, code=1)

    assert "`commit.gpgsign` is set" in ran.screen
    assert len(lanes.calls()) == 2
    assert set(lanes.statuses().values()) == {"pending"}
    assert lanes.row("1")["attempts"] == 0

    lanes.git("config", "commit.gpgsign", "false")
    lanes.start(lanes=2)
    lanes.assert_sound(4)


@pytest.mark.slow
def test_a_branch_with_the_name_of_the_directory_of_branches_is_named_before_an_agent_works(
    lanes: LaneProject,
) -> None:
    lanes.prepare(2)
    lanes.git("branch", "samuel")
    lanes.write("check.sh", "true\n")
    ran = lanes.start(lanes=2, code=1)

    assert (
        "cannot be made, because there is a branch `samuel`; your work tree has uncommitted changes" in ran.screen
    )
    assert "`git branch -m samuel OTHER`" in ran.screen
    assert lanes.calls() == []


@pytest.mark.slow
def test_files_that_a_filter_writes_are_changed_committed_and_followed(lanes: LaneProject) -> None:
    lanes.prepare(4, files={".gitattributes": "*.dat filter=turned\n*.crlf text eol=crlf\n"})
    lanes.git("config", "filter.turned.clean", "tr a-z n-za-m")
    lanes.git("config", "filter.turned.smudge", "tr a-z n-za-m")
    lanes.git("config", "filter.turned.required", "true")
    lanes.write("large.dat", "hello\n" * 50)
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "filtered")
    lanes.git("tag", "-f", "begin")
    assert lanes.git("show", "main:large.dat").startswith("uryyb\n"), "what git has is filtered"
    lanes.task("any", 'grep -q hello large.dat || exit 3; echo "abc" > "$SAMUEL_TASK_ID.dat"\n')
    lanes.task("1", "grep -q hello large.dat || exit 3; sed -i '1s/hello/world/' large.dat\n")
    lanes.task("2", "printf 'a\\r\\nb\\r\\n' > 2.crlf\n")
    ran = lanes.start(lanes=2)

    lanes.assert_sound(4)
    assert "work lands on" not in ran.screen
    assert (lanes.root / "large.dat").read_text() == "world\n" + "hello\n" * 49
    assert lanes.git("show", "main:large.dat").startswith("jbeyq\nuryyb\n")
    assert (lanes.root / "3.dat").read_text() == "abc\n"
    assert (lanes.root / "2.crlf").read_bytes() == b"a\r\nb\r\n"
    assert lanes.git("status", "--porcelain") == ""
