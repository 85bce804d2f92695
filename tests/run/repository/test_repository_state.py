"""After every attempt the index, HEAD, branches and other refs of a person are as they were, or it is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.run.conftest import LoopProject

from samuel.git.git import Git
from samuel.git.repository_state import SavedRepository
from samuel.history.notices import IterationFailed, LoopWarning
from samuel.process import environment

GIT = "git -c user.name=t -c user.email=t@example.org -c advice.detachedHead=false"
UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply")


def git(root: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout


class Repository(NamedTuple):
    """What a person would miss."""

    head: str
    refs: dict[str, str]
    index: list[str]
    stashes: str
    config: str
    in_the_way: list[str]
    hooks: dict[str, tuple[int, bytes]]


def repository(root: Path) -> Repository:
    rows = git(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    refs = dict(row.split(" ") for row in rows if not row.startswith("refs/samuel/"))
    directory = root / ".git"
    in_the_way = [name for name in UNDER_WAY if (directory / name).exists()]
    in_the_way += [path.name for path in directory.rglob("*.lock")]
    in_the_way += [path.name for path in directory.glob("sharedindex.*")]
    hooks = [path for path in (directory / "hooks").iterdir() if path.suffix != ".sample"]
    return Repository(
        (directory / "HEAD").read_text(),
        refs,
        git(root, "ls-files", "-v", "-s").splitlines(),
        git(root, "stash", "list", "--format=%H %gs"),
        git(root, "config", "--local", "--list"),
        in_the_way,
        {path.name: (path.stat().st_mode, path.read_bytes()) for path in hooks},
    )


@pytest.fixture
def person(loop: LoopProject) -> LoopProject:
    """A project of a person with a history, branches, a tag, a stash, and a change that is staged."""
    root = loop.root
    loop.configure("max_task_attempts = 1")
    loop.agent(f"""cp "$1" "seen-$SAMUEL_ITERATION.md"\n. "{root.parent}/script"\n""")
    loop.tasks("1")
    (root / ".gitignore").write_text("seen-*\nenv-*\n/.samuel/\n")
    for number in (1, 2, 3):
        (root / f"old-{number}.txt").write_text(f"old {number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"old {number}")
    git(root, "switch", "-q", "-c", "other", "HEAD~2")
    (root / "old-3.txt").write_text("another text\n")
    (root / "only-other.txt").write_text("other\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "other")
    git(root, "switch", "-q", "main")
    git(root, "branch", "topic/a", "HEAD~1")
    git(root, "tag", "v1", "HEAD~1")
    (root / "old-1.txt").write_text("stashed\n")
    git(root, "stash", "push", "-q", "-m", "first")
    (root / "old-2.txt").write_text("stashed\n")
    git(root, "stash", "push", "-q", "-m", "second")
    (root / "staged.txt").write_text("staged by a person\n")
    git(root, "add", "staged.txt")
    for name, mode in (("post-commit", 0o755), ("pre-push", 0o644)):
        (root / ".git/hooks" / name).write_text("#!/bin/sh\n# of a person\n")
        (root / ".git/hooks" / name).chmod(mode)
    return loop


def notes_of(loop: LoopProject) -> str:
    return "\n".join(report.text for report in loop.reports if isinstance(report, LoopWarning))


# What an agent does, and what the run says of it; "" for nothing, since all is as before.
COMMANDS = {
    "git add": ("echo x > new.txt; git add new.txt", ""),
    "git add of a change": ("echo x > old-1.txt; git add -A", ""),
    "git rm": ("git rm -q old-1.txt", ""),
    "git rm --cached": ("git rm -q --cached old-1.txt staged.txt", ""),
    "git mv": ("git mv old-1.txt moved.txt", ""),
    "git reset": ("git reset -q", ""),
    "git restore --staged": ("git restore --staged staged.txt", ""),
    "git read-tree": ("git read-tree HEAD~2", ""),
    "rm .git/index": ("rm .git/index", "the agent removed the index"),
    "a broken index": ("echo garbage > .git/index", "the agent broke the index"),
    "intent-to-add": ("echo x > new.txt; git add -N new.txt", ""),
    "assume-unchanged": ("git update-index --assume-unchanged old-1.txt", "`old-1.txt (assume-unchanged)`"),
    "skip-worktree": ("git update-index --skip-worktree old-1.txt", "`old-1.txt (skip-worktree)`"),
    "sparse checkout": ("git sparse-checkout set --no-cone /old-2.txt", "(skip-worktree)`"),
    "split index": ("git update-index --split-index; git add old-1.txt", ""),
    "untracked cache": ("git update-index --force-untracked-cache", ""),
    "core.fsmonitor": ("git config core.fsmonitor true", "which are as before: `core.fsmonitor`"),
    "core.bare": ("git config core.bare true", "which are as before: `core.bare`"),
    "a broken config": ("echo '[' > .git/config", "the agent broke `.git/config`"),
    "git remote add": ("git remote add origin nowhere", "which stay: `remote.origin.fetch`, `remote.origin.url`"),
    "info/exclude": ("echo '*.txt' >> .git/info/exclude", "the agent changed `.git/info/exclude`"),
    "git switch": ("git switch -q other", "the agent switched to the branch `other`: HEAD is on"),
    "git checkout -b": (f"git checkout -q -b new; {GIT} commit -qam new", "made the branch `new`, which stays"),
    "git checkout -B": ("git checkout -q -B main HEAD~2 --force", "the agent moved the branch `main` to"),
    "git checkout --detach": (f"{GIT} checkout -q --detach", "the agent moved HEAD to"),
    "a commit on a detached HEAD": (f"{GIT} checkout -q --detach; {GIT} commit -qam x", "/agent/1/HEAD`"),
    "an orphan branch": (f"git checkout -q --orphan lone; {GIT} commit -qm lone", "the branch `lone`"),
    "git symbolic-ref": ("git symbolic-ref HEAD refs/heads/nowhere", "the agent switched to the branch `nowhere`"),
    "garbage in HEAD": ("echo garbage > .git/HEAD", ""),
    "git reset --hard HEAD~2": ("git reset -q --hard HEAD~2", "the agent moved the branch `main` to"),
    "git reset --soft": ("git reset -q --soft HEAD~1", "the agent moved the branch `main` to"),
    "git commit --amend": (f"{GIT} commit -q --amend -m amended", "refs/samuel/run-"),
    "git rebase": (f"git stash -q; {GIT} rebase -q other || :", "the agent left a rebase under way"),
    "a rewritten history": ("git stash -q; FILTER_BRANCH_SQUELCH_WARNING=1 "
                            f"{GIT} filter-branch -f --msg-filter 'sed s/old/x/' HEAD~2..HEAD >/dev/null 2>&1",
                            "the agent moved the branch `main` to"),
    "git update-ref": ("git update-ref refs/heads/main HEAD~2", "the agent moved the branch `main` to"),
    "git update-ref -d HEAD": ("git update-ref -d HEAD", "the agent removed the branch `main`"),
    "git branch -D": ("git branch -q -D other", "the agent removed the branch `other`: it is at"),
    "git branch -m": ("git branch -m trunk", "the agent removed the branch `main`"),
    "git branch -f": ("git branch -q -f other main", "the agent moved the branch `other` to"),
    "a branch named as a directory": ("git branch -q -D topic/a; git branch topic", "made the branch `topic`"),
    "git tag -d": ("git tag -d v1 > /dev/null", "the agent removed the tag `v1`"),
    "git tag": ("git tag v2", "the agent made the tag `v2`, which stays: `git tag -d v2`"),
    "git tag -f": ("git tag -f v1 > /dev/null", "the agent moved the tag `v1`"),
    "git stash": ("echo x > old-1.txt; git stash -q", "the agent moved `refs/stash`"),
    "git stash drop": ("git stash drop -q", "the agent moved `refs/stash`"),
    "git stash clear": ("git stash clear", "the agent removed `refs/stash`"),
    "git stash pop": ("git stash pop -q", "the agent moved `refs/stash`"),
    "git replace": ("git replace HEAD HEAD~1", "the agent made `refs/replace/"),
    "refs of Samuel": ("git for-each-ref --format='delete %(refname)' refs/samuel | git update-ref --stdin",
                       "the agent removed `refs/samuel/run-"),
    "a forged ref": ("git update-ref refs/samuel/$SAMUEL_RUN_ID/landed/1 HEAD", "/landed/1`: it is removed"),
    "rm -rf .git/refs": ("git pack-refs --all; rm -rf .git/refs", ""),
    "a merge": ("git stash -q; git merge -q --no-commit other || :", "the agent left a merge under way"),
    "a cherry-pick": ("git stash -q; git cherry-pick other || :", "the agent left a cherry-pick under way"),
    "a revert": ("git stash -q; git revert --no-commit HEAD~1", "the agent left a revert under way"),
    "a bisection": ("git bisect start -q HEAD HEAD~2 > /dev/null", "the agent left a bisect under way"),
    "a hook": ("printf '#!/bin/sh\\ntouch ran\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
               "the agent changed hooks, which git would run for you: they are as before: `.git/hooks/pre-"),
    "a hook of a person": ("echo touch ran >> .git/hooks/post-commit", "as before: `.git/hooks/post-commit`"),
    "chmod of a hook": ("chmod +x .git/hooks/pre-push", "as before: `.git/hooks/pre-push`"),
    "rm of a hook": ("rm .git/hooks/post-commit", "as before: `.git/hooks/post-commit`"),
    "a hook that is a link": ("ln -s ../../agent.sh .git/hooks/pre-commit", "as before: `.git/hooks/pre-commit`"),
    "rm -rf .git/hooks": ("rm -rf .git/hooks", "as before: `.git/hooks/post-commit`, `.git/hooks/pre-push`"),
    "hooks elsewhere": ("mkdir ../hooks; cp agent.sh ../hooks/pre-commit; rm -rf .git/hooks; "
                        "ln -s ../../hooks .git/hooks", "as before: `.git/hooks`, `.git/hooks/post-commit`"),
    "core.hooksPath": ("git config core.hooksPath ../hooks", "which are as before: `core.hookspath`"),
    "git worktree add": ("git worktree add -q --detach ../linked", "which stays: `git worktree remove "),
    "commits": (f"echo x > new.txt; git add -A; {GIT} commit -qm one; {GIT} commit -q --allow-empty -m two",
                "commits of this attempt are not on the branch `main` any more, because its task is not"),
    "index.lock": ("touch .git/index.lock", "the agent left `.git/index.lock`, and no git was at work: removed"),
    "the lock of a branch": ("touch .git/refs/heads/main.lock", "the agent left `.git/refs/heads/main.lock`"),
    "git gc": ("git commit -q --amend --no-edit; git reflog expire --expire=now --all; git gc -q --prune=now",
               "the agent moved the branch `main` to"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_failed_attempt_leaves_the_repository_as_it_was(person: LoopProject, name: str) -> None:
    script, words = COMMANDS[name]
    before = repository(person.root)
    (person.root.parent / "script").write_text(f"{script}\nexit 3\n")
    run = person.run(2)
    assert run.exit_reason == "tasks_blocked"
    after = repository(person.root)
    new = {ref: commit for ref, commit in after.refs.items() if ref not in before.refs}
    names = [ref.removeprefix("refs/heads/").removeprefix("refs/tags/") for ref in new]
    assert all(f"`{name}`, which stays" in notes_of(person) for name in names), "what is new is named"
    stays = "which stay:" in notes_of(person)
    assert after._replace(refs={**before.refs, **after.refs}, config=before.config if stays else after.config) == (
        before._replace(refs={**before.refs, **new})
    )
    assert words in notes_of(person)
    assert words or not notes_of(person)


def script(loop: LoopProject, text: str) -> None:
    (loop.root.parent / "script").write_text(text)


CLAIM = 'echo x > "work-$SAMUEL_TASK_ID.txt"; samuel run done "$SAMUEL_TASK_ID"\n'


class TestIndex:
    def test_a_file_that_a_failed_attempt_removed_with_git_is_not_in_the_next_commit_of_a_person(
        self, person: LoopProject
    ) -> None:
        script(person, "git rm -q old-1.txt; exit 3\n")
        person.run(2)
        git(person.root, "commit", "-q", "-m", "mine")
        assert git(person.root, "show", "--format=", "--name-status") == "A\tstaged.txt\n"
        assert git(person.root, "status", "--short") == ""

    def test_the_commit_of_a_task_has_its_work_and_what_a_person_staged_stays_staged(
        self, person: LoopProject
    ) -> None:
        commit_tasks(person)
        script(person, f"git rm -q old-1.txt; echo y >> old-2.txt; {CLAIM} git add -A; git mv old-3.txt new.txt\n")
        person.run(2)
        assert git(person.root, "show", "--format=", "--name-status", "--no-renames").split() == [
            *("A", "new.txt", "D", "old-1.txt", "M", "old-2.txt", "D", "old-3.txt", "A", "work-1.txt")
        ]
        assert git(person.root, "status", "--short") == "A  staged.txt\n"

    @pytest.mark.parametrize("commit", [True, False])
    def test_commits_of_an_agent_on_top_of_the_branch_stay_and_the_index_fits_them(
        self, person: LoopProject, commit: bool
    ) -> None:
        if commit:
            commit_tasks(person)
        paths = "old-1.txt work-1.txt"
        script(person, f"git rm -q old-1.txt; {CLAIM} git add work-1.txt; {GIT} commit -qm agent -- {paths}\n")
        person.run(2)
        assert git(person.root, "log", "-1", "--format=%s") == "agent\n"
        assert git(person.root, "status", "--short") == "A  staged.txt\n"
        assert notes_of(person) == ""

    def test_a_file_that_only_the_index_had_is_staged_again_after_git_gc(self, person: LoopProject) -> None:
        (person.root / "staged.txt").write_text("edited since\n")
        script(person, "git rm -q -f --cached staged.txt; git gc -q --prune=now; exit 3\n")
        person.run(2)
        assert git(person.root, "show", ":staged.txt") == "staged by a person\n"
        assert git(person.root, "status", "--short") == "AM staged.txt\n"

    def test_a_conflict_of_a_person_is_in_the_index_again_after_git_gc(self, person: LoopProject) -> None:
        git(person.root, "reset", "-q", "--hard")
        git(person.root, "merge", "-q", "other", check=False)
        (person.root / "mine.txt").write_text("staged\n")
        git(person.root, "add", "mine.txt")
        (person.root / "mine.txt").write_text("edited since\n")
        before = git(person.root, "ls-files", "-u")
        assert before
        script(person, "git read-tree --empty; git gc -q --prune=now; exit 3\n")
        person.run(2)
        assert git(person.root, "ls-files", "-u") == before
        assert git(person.root, "show", ":3:old-3.txt") == "another text\n"
        assert git(person.root, "show", ":mine.txt") == "staged\n"

    def test_flags_that_a_person_set_stay(self, person: LoopProject) -> None:
        git(person.root, "update-index", "--skip-worktree", "old-1.txt")
        before = repository(person.root)
        script(person, "git update-index --no-skip-worktree old-1.txt; git add -A; exit 3\n")
        person.run(2)
        assert repository(person.root) == before
        assert any(line.startswith("S ") for line in before.index)

    def test_files_that_a_sparse_checkout_removed_are_there_again(self, person: LoopProject) -> None:
        script(person, f"git sparse-checkout set --no-cone /old-2.txt /agent.sh /samuel.toml; {CLAIM}")
        person.run(2)
        assert person.statuses() == {"1": "completed"}
        assert (person.root / "old-1.txt").read_text() == "old 1\n"
        assert git(person.root, "status", "--short") == "A  staged.txt\n?? work-1.txt\n"

    def test_task_is_not_completed_by_a_check_that_stashes_its_work(self, person: LoopProject) -> None:
        person.configure('max_task_attempts = 1\nquality_checks = ["test ! -f work-1.txt || git stash -q -u"]')
        script(person, CLAIM)
        run = person.run(1)
        assert person.statuses() == {"1": "blocked"}
        (failed,) = [report for report in person.reports if isinstance(report, IterationFailed)]
        assert "the checks took back all that the attempt had changed (`work-1.txt`)" in failed.why
        assert git(person.root, "show", f"refs/samuel/{run.run_id}/1/1:work-1.txt") == "x\n"

    def test_what_a_check_does_to_the_index_is_put_back(self, person: LoopProject) -> None:
        before = repository(person.root)
        person.configure('evidence = "in place"\nquality_checks = ["git add -A && git tag -f checked"]')
        script(person, CLAIM)
        person.run(2)
        assert person.statuses() == {"1": "completed"}
        assert repository(person.root).index == before.index
        assert "a check made the tag `checked`, which stays" in notes_of(person)


@pytest.mark.parametrize("name", ["refs/heads/beside.lock", "packed-refs.lock", "worktrees/linked/index.lock"])
def test_a_lock_that_an_agent_left_in_a_linked_work_tree_is_removed_and_named(
    person: LoopProject, name: str
) -> None:
    linked, lock = person.root.with_name("linked"), person.root / ".git" / name
    git(person.root, "worktree", "add", "-q", "-b", "beside", str(linked))
    here = Git(linked, environment.clean())
    saved = SavedRepository(here, person.root.parent / "saved")
    saved.save("run-1", 1)
    lock.touch()

    notes = saved.put_back("the agent").notes

    assert notes == (f"the agent left `.git/{name}`, and no git was at work: removed",)
    assert not lock.exists()


class TestLinks:
    """Files of the git directory that are links of a person to files elsewhere."""

    @pytest.mark.parametrize("name", ["config", "info/exclude", "info/attributes"])
    @pytest.mark.parametrize("relative", [True, False])
    @pytest.mark.parametrize("damage", ["git add -A", "rm {file}", "rm {file}; echo > {file}", "ln -sf x {file}"])
    def test_a_link_is_what_it_was_and_so_is_the_file_it_leads_to(
        self, person: LoopProject, name: str, relative: bool, damage: str
    ) -> None:
        file, target = person.root / ".git" / name, person.root.parent / "dotfile"
        content = file.read_text() if file.exists() else "*.txt text\n"
        file.unlink(missing_ok=True)
        target.write_text(content)
        link = os.path.relpath(target, file.parent) if relative else str(target)
        file.symlink_to(link)
        script(person, f"{damage.format(file=file)}; exit 3\n")

        person.run(2)

        assert (file.is_symlink() and os.readlink(file), target.read_text()) == (link, content)
        assert (f"the agent changed `.git/{name}`: it is as before" in notes_of(person)) == ("{file}" in damage)

    @pytest.mark.parametrize("name", ["config", "info/exclude"])
    def test_a_file_that_became_a_link_is_a_file_again(self, person: LoopProject, name: str) -> None:
        file, target = person.root / ".git" / name, person.root.parent / "elsewhere"
        content = file.read_text()
        target.write_text("[core]\n\tbare = true\n")
        script(person, f"ln -sf {target} {file}; exit 3\n")

        person.run(2)

        assert (file.is_symlink(), file.read_text()) == (False, content)
        assert target.read_text() == "[core]\n\tbare = true\n"


class TestNight:
    """An agent that rewrites history costs nothing but what it did itself."""

    @pytest.mark.parametrize(
        "damage",
        [
            "git reset -q --hard HEAD~2",
            f"{GIT} commit -q --amend -m other",
            "git switch -q other",
            "git switch -q other; git update-ref -d refs/heads/other",
            "git branch -q -m trunk",
            "git checkout -q --detach HEAD~3",
            "git update-ref refs/heads/main HEAD~2",
            "git stash -q -u",
        ],
    )
    def test_work_that_landed_before_stays_and_the_night_goes_on(self, person: LoopProject, damage: str) -> None:
        git(person.root, "reset", "-q", "--hard")
        commit_tasks(person)
        person.tasks("1", "2", "3")
        script(person, f'if [ "$SAMUEL_TASK_ID" = 2 ]; then {damage}; fi\n{CLAIM}')
        run = person.run(5)
        assert (run.exit_reason, person.statuses()) == ("queue_empty", dict.fromkeys("123", "completed"))
        subjects = git(person.root, "log", "--format=%s", "main").split("\n")
        assert subjects[:5] == ["3 Task 3", "2 Task 2", "1 Task 1", "settings", "old 3"]
        assert (person.root / ".git/HEAD").read_text() == "ref: refs/heads/main\n"
        assert git(person.root, "show", "--format=", "--name-only", "HEAD~1") == "work-2.txt\n"
        assert git(person.root, "status", "--short") == ""

    def test_commits_on_another_branch_are_work_like_any_other(self, person: LoopProject) -> None:
        commit_tasks(person)
        script(person, f"git switch -qc mine; {CLAIM} git add work-1.txt; {GIT} commit -qm agent -- work-1.txt\n")
        person.run(2)
        assert git(person.root, "log", "-1", "--format=%s", "main") == "1 Task 1\n"
        assert git(person.root, "show", "main:work-1.txt") == "x\n"
        assert "the agent switched to the branch `mine`: HEAD is on the branch `main` again" in notes_of(person)

    def test_what_an_agent_had_in_a_ref_that_was_put_back_is_kept(self, person: LoopProject) -> None:
        script(person, f"echo x > new.txt; git add new.txt; {GIT} commit -q --amend -m amended; exit 3\n")
        run = person.run(2)
        ref = f"refs/samuel/{run.run_id}/agent/1/heads/main"
        main = git(person.root, "rev-parse", "main")[:12]
        assert f"it is at {main} again; what it had is in `{ref}`" in notes_of(person)
        assert git(person.root, "log", "-1", "--format=%s", ref) == "amended\n"


def commit_tasks(loop: LoopProject) -> None:
    """Let the run commit; the settings are committed, whatever else is staged."""
    loop.configure("commit = true\nmax_task_attempts = 1")
    git(loop.root, "commit", "-q", "-m", "settings", "--", "samuel.toml")


DRIVER = """
import os, sys
from pathlib import Path
from samuel.app import App, Overrides
from samuel.attempt.stop import Stop
Path("../pid").write_text(str(os.getpid()))
with App(".", overrides=Overrides(trust_everything=True)) as app:
    print(app.loop(Stop()).run(3, ["mine"]).exit_reason)
"""


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["git rm -q old-1.txt", "git switch -q other", "git reset -q --hard HEAD~2"])
def test_a_run_that_was_killed_puts_the_repository_back_when_it_resumes(person: LoopProject, damage: str) -> None:
    git(person.root, "reset", "-q", "--hard")
    before = repository(person.root)
    script(person, f"if mkdir ../killed; then {damage}; kill -9 $(cat ../pid); sleep 60; fi; exit 3\n")
    for returncode in (-9, 0):
        command = [sys.executable, "-c", DRIVER]
        driver = subprocess.run(command, cwd=person.root, capture_output=True, text=True, check=False)
        assert driver.returncode == returncode, driver.stderr
    assert driver.stdout == "tasks_blocked\n"
    assert repository(person.root) == before
    assert git(person.root, "status", "--short") == ""
