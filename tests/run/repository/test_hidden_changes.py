"""Changes that an agent hides from git: Samuel looks at the files with an index of its own, and sees them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.run.conftest import LoopProject

from samuel.history.notices import IterationSettled

CHECK = "grep -q right code.txt\n"
WEAKENED = "# grep right code.txt \n"  # as long as the check
# What an agent that has weakened check.sh does so that `git status` does not list it.
HIDING = {
    "assume-unchanged": "git update-index --assume-unchanged check.sh",
    "skip-worktree": "git update-index --skip-worktree check.sh",
    "both flags": "git update-index --assume-unchanged check.sh; git update-index --skip-worktree check.sh",
    "the time of the file": (
        "touch -r keep check.sh; git config core.trustctime false; git config core.checkStat minimal"
    ),
    "a staged change": "git add check.sh",
    "a commit": "git commit -qam agent",
    "no index": "rm .git/index",
    "an untracked file that is excluded": "git rm -q --cached check.sh; echo check.sh >> .git/info/exclude",
    "a new ignore rule": "git rm -q --cached check.sh; echo check.sh >> .gitignore",
}


@pytest.fixture
def checked(loop: LoopProject) -> LoopProject:
    begin(loop)
    return loop


def begin(loop: LoopProject, settings: str = "") -> None:
    loop.configure(f'max_task_attempts = 1\nquality_checks = ["sh check.sh"]\n{settings}')
    for name, text in {"check.sh": CHECK, "code.txt": "right\n", "keep": ""}.items():
        (loop.root / name).write_text(text)
    assert len(CHECK) == len(WEAKENED)
    subprocess.run(["touch", "-d", "2020-01-01", "check.sh", "keep"], cwd=loop.root, check=True)
    git(loop, "add", "-A")
    git(loop, "commit", "-q", "-m", "checks")
    loop.tasks("1")


def cheat(loop: LoopProject, hiding: str, more: str = "echo wrong > code.txt\n") -> None:
    loop.agent(f"{more}printf '{WEAKENED}' > check.sh\n{hiding}\nsamuel run done 1\n")
    git(loop, "commit", "-q", "-a", "-m", "agent")


def git(loop: LoopProject, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=loop.root, check=True, capture_output=True, text=True)
    return done.stdout


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


@pytest.mark.parametrize("hiding", HIDING)
def test_weakened_check_that_is_hidden_from_git_does_not_verify_the_task(
    checked: LoopProject, hiding: str
) -> None:
    cheat(checked, HIDING[hiding])
    run = checked.run(1)
    assert (outcomes(checked), checked.statuses()) == (["disputed"], {"1": "waiting"})
    listing = git(checked, "show", "--format=", "--name-only", f"refs/samuel/{run.run_id}/1/1").split()
    assert {"check.sh", "code.txt"} <= set(listing)
    assert (checked.root / "check.sh").read_text() == CHECK


@pytest.mark.parametrize("hiding", ["assume-unchanged", "skip-worktree", "the time of the file"])
def test_protected_file_that_is_hidden_from_git_is_refused(loop: LoopProject, hiding: str) -> None:
    begin(loop, 'protect = ["check.sh"]')
    cheat(loop, HIDING[hiding], more="")
    loop.run(1)
    assert outcomes(loop) == ["quality_failed"]
    assert "files that samuel.toml protects were changed" in loop.store.load()[0].last_failure


@pytest.mark.parametrize("hiding", ["assume-unchanged", "skip-worktree", "the time of the file"])
def test_commit_of_a_task_has_the_files_that_were_hidden_from_git(
    loop: LoopProject, hiding: str, tmp_path: Path
) -> None:
    """What was checked is what is committed: a fresh clone passes its own checks."""
    begin(loop, "commit = true")
    hide = HIDING[hiding].replace("check.sh", "code.txt")
    loop.agent(f"echo RIGHT > code.txt\n{hide}\necho 'grep -qi right code.txt' > check.sh\nsamuel run done 1\n")
    git(loop, "commit", "-q", "-a", "-m", "agent")
    loop.store.change(
        lambda tasks: [task.__class__(id="1", title="One", files_to_modify=("check.sh",)) for task in tasks]
    )
    loop.run(1)
    assert loop.statuses() == {"1": "completed"}
    subprocess.run(["git", "clone", "-q", loop.root, tmp_path / "clone"], check=True)
    assert (tmp_path / "clone/code.txt").read_text() == "RIGHT\n"


def test_check_that_a_sparse_checkout_leaves_out_is_a_deletion(checked: LoopProject) -> None:
    (checked.root / "tests").mkdir()
    (checked.root / "tests/run.sh").write_text(CHECK)
    checked.configure('max_task_attempts = 1\nquality_checks = ["if test -d tests; then sh tests/run.sh; fi"]')
    checked.agent("echo wrong > code.txt\ngit sparse-checkout set --no-cone '/*' '!/tests'\nsamuel run done 1\n")
    git(checked, "add", "-A")
    git(checked, "commit", "-q", "-m", "tests")
    checked.run(1)
    assert outcomes(checked) == ["quality_failed"]
    assert (checked.root / "tests/run.sh").read_text() == CHECK


def test_gitignore_that_hides_itself_leaves_the_tree_with_its_failed_attempt(loop: LoopProject) -> None:
    (loop.root / "src").mkdir()
    (loop.root / "src/code.txt").write_text("right\n")
    loop.agent(
        """case $SAMUEL_TASK_ID in
        1) echo '*' > .gitignore; echo '*' > src/.gitignore; mkdir cache; echo '*' > cache/.gitignore; exit 1 ;;
        *) touch "work-$SAMUEL_TASK_ID"; samuel run done $SAMUEL_TASK_ID ;;
        esac
        """
    )
    loop.configure("max_task_attempts = 1")
    git(loop, "add", "-A")
    git(loop, "commit", "-q", "-m", "files")
    loop.tasks("1", "2")
    run = loop.run(2)
    assert loop.statuses() == {"1": "blocked", "2": "completed"}
    listing = git(loop, "show", "--format=", "--name-only", f"refs/samuel/{run.run_id}/1/1").split()
    assert {".gitignore", "src/.gitignore"} <= set(listing)
    assert not (loop.root / "src/.gitignore").exists()
    assert git(loop, "diff", "HEAD", "--", ".gitignore") == ""


# What an agent does so that git ignores the new file `hidden.txt`.
IGNORING = {
    "core.excludesFile": "echo hidden.txt > .rules; git config core.excludesFile .rules",
    "core.excludesFile of the work tree": (
        "git config extensions.worktreeConfig true; echo hidden.txt > .rules\n"
        "git config --worktree core.excludesFile .rules"
    ),
    "an included configuration": (
        "echo hidden.txt > .rules; printf '[core]\\nexcludesFile = .rules\\n' > .git/more; "
        "git config include.path more"
    ),
    "core.ignorecase": "echo HIDDEN.TXT >> .gitignore; git config core.ignorecase true",
    "info/exclude": "echo hidden.txt >> .git/info/exclude",
}


def new_file(loop: LoopProject, hiding: str) -> str:
    """The script of an agent that fails its check and leaves a new file."""
    return f"echo wrong > code.txt\necho new > hidden.txt\n{IGNORING.get(hiding, '')}\nsamuel run done 1\n"


@pytest.mark.parametrize("hiding", IGNORING)
def test_new_file_that_an_agent_has_git_ignore_is_in_the_ref_of_the_attempt(
    checked: LoopProject, hiding: str
) -> None:
    checked.agent(new_file(checked, hiding))
    run = checked.run(1)
    listing = git(checked, "show", "--format=", "--name-only", f"refs/samuel/{run.run_id}/1/1").split()
    assert {"hidden.txt", "code.txt"} <= set(listing)
    assert not (checked.root / "hidden.txt").exists()
    assert "hidden" not in git(checked, "config", "--list", "--includes")
    assert not git(checked, "config", "--list", "--includes").count("excludesfile")


@pytest.mark.parametrize("hiding", [name for name in IGNORING if name != "info/exclude"])
def test_settings_of_the_repository_hide_no_new_file_of_a_later_run(checked: LoopProject, hiding: str) -> None:
    """As an agent in another lane has set them, or one outside of any run."""
    subprocess.run(["sh", "-c", IGNORING[hiding]], cwd=checked.root, check=True)
    git(checked, "add", "-A")
    git(checked, "commit", "-q", "-m", "rules")
    checked.agent(new_file(checked, ""))
    run = checked.run(1)
    listing = git(checked, "show", "--format=", "--name-only", f"refs/samuel/{run.run_id}/1/1").split()
    assert {"hidden.txt", "code.txt"} <= set(listing)
