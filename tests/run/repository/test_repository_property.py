"""Whatever an agent does with files and git: the index, HEAD and refs of the person are as they were before."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.length import at_length
from tests.run.conftest import LoopProject
from tests.run.repository import random_agent
from tests.run.repository.test_repository_state import Repository, git, notes_of, repository

SEEDS = at_length(6, 60)
COMMANDS = 25


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_any_attempt_the_index_head_and_refs_are_as_they_were(loop: LoopProject, seed: int) -> None:
    root = loop.root
    random_agent.first_files(root)
    loop.configure("max_task_attempts = 1")
    script = root.parent / "script"
    loop.agent(f". {script}\n")
    with (root / ".gitignore").open("a") as rules:
        rules.write("/.samuel/\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "files")
    git(root, "branch", "other")
    git(root, "tag", "mark", "HEAD~1")
    (root / "src/a.py").write_text("stashed\n")
    git(root, "stash", "push", "-q")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "staged.txt").write_text("edited since\n")
    (root / ".git/hooks/post-commit").write_text("#!/bin/sh\n")
    before = repository(root)
    for number in range(2):
        loop.tasks(str(number))
        script.write_text(f"{random_agent.script(1000 * seed + number, COMMANDS)}exit 3\n")
        loop.run(2)
        assert_as_before(root, loop, before)


def assert_as_before(root: Path, loop: LoopProject, before: Repository) -> None:
    """All is as before, but for what the run named."""
    after, notes = repository(root), notes_of(loop)
    refs = {name: after.refs.get(name) for name in before.refs}
    assert after._replace(refs=refs, config=before.config) == before
    for name in after.refs.keys() - before.refs.keys():
        short = name.removeprefix("refs/heads/").removeprefix("refs/tags/")
        assert f"`{short}`, which stays" in notes
    for path in git(root, "worktree", "list", "--porcelain").splitlines():
        if path.startswith("worktree ") and path != f"worktree {root}":
            assert f"the agent made the work tree `{path.removeprefix('worktree ')}`, which stays" in notes
    assert git(root, "diff", "--cached", "--name-only") == "staged.txt\n"
    assert git(root, "show", ":staged.txt") == "staged\n"
    assert all(line.startswith("H ") for line in after.index)
