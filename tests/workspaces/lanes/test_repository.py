"""What agents in lanes do to the repository that they share with the person: it ends as before, or it is said."""

from __future__ import annotations

import re

import pytest
from tests.length import sample
from tests.workspaces.lanes.project import LaneProject

WORK = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"\n'

# What the agent of task 1 does before it works, and what the run says of it; "" for nothing.
COMMANDS = {
    "git add": ("echo x > new.txt; git add new.txt; rm new.txt; git rm -q --cached old.txt", ""),
    "assume-unchanged": ("git update-index --assume-unchanged check.sh", "`check.sh (assume-unchanged)`"),
    "skip-worktree": ("git update-index --skip-worktree check.sh", "`check.sh (skip-worktree)`"),
    "sparse checkout": ("git sparse-checkout set --no-cone /old.txt", "(skip-worktree)`"),
    "git switch": ("git switch -q other", "the agent switched to the branch `other`: HEAD is at"),
    "git switch -c": ("git switch -q -c new; git commit -q --allow-empty -m x", "the branch `new` was made"),
    "git reset --hard": ("git reset -q --hard HEAD~1", "the agent moved HEAD to"),
    "an orphan branch": ("git checkout -q --orphan lone", "the agent switched to the branch `lone`"),
    "a merge": ("git merge -q --no-commit other || :", "the agent left a merge under way"),
    "a rebase": ("git rebase -q other || :", "the agent left a rebase under way"),
    "index.lock": ('touch "$(git rev-parse --git-dir)/index.lock"', "the agent left `.git/index.lock`"),
    "git branch -D": ("git branch -q -D other", "the branch `other` was removed; it was at"),
    "git branch -f": ("git branch -q -f other HEAD", "the branch `other` was moved from"),
    "git tag -d": ("git tag -d v1 >/dev/null", "the tag `v1` was removed"),
    "git tag": ("git tag v2", "the tag `v2` was made"),
    "git stash": ("echo x >> old.txt; git stash -q", "`refs/stash` was made"),
    "git update-ref": ("git update-ref refs/heads/main HEAD~1", "the branch `main`: an agent moved it to"),
    "git update-ref -d": ("git update-ref -d refs/heads/main", "the branch `main`: an agent removed it"),
    "no HEAD": ('rm "$(git rev-parse --git-dir)/HEAD"', ""),
    "core.bare": ("git config core.bare true", "which are as before: `core.bare`"),
    "git config": ("git config alias.x status", "settings were changed, which stay: `alias.x`"),
    "info/exclude": (
        'echo "*.log" >> "$(git rev-parse --git-common-dir)/info/exclude"',
        "`.git/info/exclude` was",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(list(COMMANDS), every=3))
def test_what_an_agent_does_to_the_repository_from_a_lane_is_as_before_or_said(
    lanes: LaneProject, name: str
) -> None:
    script, words = COMMANDS[name]
    lanes.prepare(3, files={"old.txt": "old\n"})
    lanes.write("old.txt", "newer\n")
    lanes.git("commit", "-q", "-am", "newer")
    lanes.git("tag", "-f", "begin")
    lanes.git("tag", "v1")
    lanes.git("switch", "-q", "-c", "other", "HEAD~1")
    lanes.write("old.txt", "other\n")
    lanes.git("commit", "-q", "-am", "other")
    lanes.git("switch", "-q", "main")
    before = refs(lanes)
    lanes.task("1", f"{script}\n{WORK}")
    ran = lanes.start(lanes=2)

    lanes.assert_sound(3)
    lanes.assert_green()
    assert lanes.git("status", "--short") == ""
    assert words in ran.out
    after = {**refs(lanes), "refs/heads/main": before["refs/heads/main"]}
    assert all(f"`{ref.split('/', 2)[-1]}` was " in ran.out or ref in ran.out for ref in changed(before, after))
    landed = set(lanes.git("show", "--format=", "--name-only", "begin..main").split())
    conflicts = {"old.txt"} if name == "a merge" else set()  # the files of a conflict at its own HEAD are its work
    assert landed == {"work-1.txt", "work-2.txt", "work-3.txt", *conflicts}
    if words:
        assert any(words in note for note in lanes.samuel("run", "status", "--json").data["repository"])


def refs(lanes: LaneProject) -> dict[str, str]:
    rows = lanes.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(row.split(" ") for row in rows if not row.startswith(("refs/samuel/", "refs/notes/samuel ")))


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {ref for ref in {*before, *after} if before.get(ref) != after.get(ref)}


def notes(lanes: LaneProject) -> str:
    return "\n".join(lanes.samuel("run", "status", "--json").data["repository"])


@pytest.mark.slow
@pytest.mark.parametrize("move", ["refs/heads/main HEAD~1", "-d refs/heads/main"])
def test_a_branch_of_the_person_that_an_agent_moved_back_is_named_with_the_way_back(
    lanes: LaneProject, move: str
) -> None:
    lanes.prepare(2, settings="branch = true")
    lanes.git("commit", "-q", "--allow-empty", "-m", "newer")
    tip = lanes.git("rev-parse", "--short=12", "main").strip()
    lanes.task("1", f"git update-ref {move}\n{WORK}")

    ran = lanes.start(lanes=2)

    command = f"git update-ref refs/heads/main {tip}"
    assert f"`{command}` takes that back" in ran.out
    assert command in notes(lanes)
    lanes.git(*command.split()[1:])
    assert lanes.git("rev-parse", "--short=12", "HEAD").strip() == tip
    assert lanes.git("status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["branch = true", ""])
def test_what_an_agent_does_in_the_work_tree_of_the_person_is_named(lanes: LaneProject, settings: str) -> None:
    lanes.prepare(2, settings=settings, files={"old.txt": "old\n"})
    there = (
        f"cd {lanes.root}; echo x > mine.txt; git add mine.txt; git commit -q -m mine; echo x > old.txt; touch new"
    )
    lanes.task("1", f"( {there} )\n{WORK}")

    ran = lanes.start(lanes=2)

    assert "while agents worked, files in your own work tree were changed: `new`, `old.txt`" in ran.out
    assert "files in your own work tree" in notes(lanes)
    commits = [note for note in notes(lanes).splitlines() if "commits were made on the branch `main`" in note]
    assert [note.endswith(" mine") for note in commits] == [True]
    assert "mine\n" in lanes.git("log", "--format=%s", "main")


@pytest.mark.slow
def test_a_run_in_lanes_says_nothing_of_what_landed_in_the_work_tree_of_the_person(lanes: LaneProject) -> None:
    lanes.prepare(3)

    ran = lanes.start(lanes=2)

    lanes.assert_sound(3)
    assert "while agents worked" not in ran.out


@pytest.mark.slow
def test_a_hook_that_an_agent_wrote_from_a_lane_is_taken_away_and_a_ref_has_it(lanes: LaneProject) -> None:
    lanes.prepare(2)
    hook = lanes.root / ".git/hooks/pre-commit"
    beside = lanes.root.with_name("beside")
    lanes.task("1", f"echo 'touch ran' > {hook}; chmod +x {hook}; git worktree add -q {beside} -b beside\n{WORK}")

    ran = lanes.start(lanes=2)

    assert not hook.exists()
    assert "while agents worked, hooks of git were changed: they are as before: `.git/hooks/pre-commit`" in ran.out
    (ref,) = re.findall(r"what was there is in `(\S+)`", notes(lanes))
    assert lanes.git("show", f"{ref}:pre-commit") == "touch ran\n"
    assert f"while agents worked, one of them or a person made the work tree `{beside}`, which stays" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("drop", ["clear", "drop -q stash@{1}"])
def test_stashes_that_an_agent_dropped_are_named_with_commands_that_bring_them_back(
    lanes: LaneProject, drop: str
) -> None:
    lanes.prepare(1, files={"old.txt": "old\n"})
    for text in ("first\n", "second\n"):
        lanes.write("old.txt", text)
        lanes.git("stash", "-q")
    lanes.task("1", f"git stash {drop}\n{WORK}")

    ran = lanes.start(lanes=2)

    assert "dropped" in ran.out
    commands = re.findall(r"`git (stash store [0-9a-f]+)`", notes(lanes))
    assert len(commands) == (2 if drop == "clear" else 1)
    for command in commands:
        lanes.git(*command.split())
    texts = [lanes.git("show", f"stash@{{{number}}}:old.txt") for number in (0, 1)]
    assert texts == (["second\n", "first\n"] if drop == "clear" else ["first\n", "second\n"])


@pytest.mark.slow
def test_a_lock_that_an_agent_left_on_the_index_of_the_person_is_removed_and_named(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task("1", f"touch {lanes.root}/.git/index.lock\n{WORK}")

    ran = lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert "while agents worked, `.git/index.lock` was left, and no git was at work: removed" in ran.out
    assert "index.lock" in notes(lanes)
    assert (lanes.root / "work-1.txt").exists(), "the work tree followed"
