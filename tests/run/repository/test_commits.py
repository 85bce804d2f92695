"""Commits that a run makes: which hooks run for them, and what of a sandboxed agent does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest
from tests.run.conftest import GOOD, LoopProject

from samuel.attempt.stop import Stop
from samuel.confine import sandbox as sandboxes
from samuel.history.notices import LoopWarning
from samuel.trust import commands
from samuel.trust.repository import trust_key
from samuel.trust.store import TrustStore

NAME = "commit-hooks:ralph"
# The home of a test lies below /tmp, which a sandbox hides.
SANDBOX = 'sandbox = { kind = "bwrap", volumes = ["~:~:ro"] }'


@pytest.fixture
def canary(loop: LoopProject) -> Path:
    """Hooks of the repository write to it, one name a line; it is not part of the work tree."""
    file = loop.root / ".git" / "canary"
    add_hooks(loop.root / ".git" / "hooks", file)
    return file


def add_hooks(directory: Path, canary: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"):
        (directory / name).write_text(f"#!/bin/sh\necho {name} >> '{canary}'\n")
        (directory / name).chmod(0o755)


def run(loop: LoopProject, *, trusting: bool) -> list[str]:
    """One run of one task; gives its warnings."""
    loop.tasks("1")
    loop.reports.clear()
    with loop.project.open(trust_everything=trusting, watch=loop.reports.append) as app:
        app.loop(Stop()).run(3, ["mine"])
    assert loop.statuses() == {"1": "completed"}
    return [report.text for report in loop.reports if isinstance(report, LoopWarning)]


def subject(loop: LoopProject) -> str:
    git_output = subprocess.run(["git", "log", "-1", "--format=%s"], cwd=loop.root, capture_output=True, text=True)
    return git_output.stdout.strip()


def agree(loop: LoopProject) -> None:
    """To all command lines of samuel.toml, as `samuel trust --yes` does."""
    with loop.open() as app:
        texts = [(name, digest, content.encode()) for name, digest, content in commands.texts(app.config)]
    TrustStore(loop.project.user.state / "trust", trust_key(loop.root)).agree(texts, at="", root=str(loop.root))


class TestHooks:
    def test_git_hooks_do_not_run_unless_samuel_toml_asks_for_them(self, loop: LoopProject, canary: Path) -> None:
        loop.configure("commit = true")
        assert run(loop, trusting=True) == []
        assert (subject(loop), canary.exists()) == ("1 Task 1", False)

    def test_git_hooks_that_are_not_trusted_do_not_run(self, loop: LoopProject, canary: Path) -> None:
        loop.configure("commit = true\ncommit_hooks = true")
        agree(loop)
        TrustStore(loop.project.user.state / "trust", trust_key(loop.root)).revoke([NAME])
        (warning,) = run(loop, trusting=False)
        assert warning.startswith(f"the commit runs no hooks: not trusted: `{NAME}` has not been agreed to yet")
        assert (subject(loop), canary.exists()) == ("1 Task 1", False)

    def test_trusted_git_hooks_run(self, loop: LoopProject, canary: Path) -> None:
        loop.configure("commit = true\ncommit_hooks = true")
        agree(loop)
        assert run(loop, trusting=False) == []
        assert subject(loop) == "1 Task 1"
        assert {"pre-commit", "commit-msg", "post-commit"} <= set(canary.read_text().split())

    def test_git_hooks_do_not_run_after_one_of_them_changed(self, loop: LoopProject, canary: Path) -> None:
        loop.configure("commit = true\ncommit_hooks = true")
        agree(loop)
        with (loop.root / ".git" / "hooks" / "post-commit").open("a") as hook:
            hook.write("echo more\n")
        (warning,) = run(loop, trusting=False)
        assert f"`{NAME}` is not what was agreed to" in warning
        assert not canary.exists()

    def test_trusting_hooks_of_husky_includes_the_scripts_that_they_run(
        self, loop: LoopProject, canary: Path
    ) -> None:
        add_hooks(loop.root / ".husky" / "_", canary)
        subprocess.run(["git", "config", "core.hooksPath", ".husky/_"], cwd=loop.root, check=True)
        loop.configure("commit = true\ncommit_hooks = true")
        agree(loop)
        (loop.root / ".husky" / "post-commit").write_text("echo more\n")
        (warning,) = run(loop, trusting=False)
        assert f"`{NAME}` is not what was agreed to" in warning
        assert not canary.exists()

    def test_git_hooks_that_cannot_be_read_cannot_be_trusted(self, loop: LoopProject) -> None:
        subprocess.run(["git", "config", "core.hooksPath", "samuel.toml"], cwd=loop.root, check=True)
        loop.configure("commit = true\ncommit_hooks = true")
        with loop.open() as app:
            texts = {name: (digest, content) for name, digest, content in commands.texts(app.config)}
        assert texts[NAME][0] == ""
        assert "cannot be read" in texts[NAME][1]


class TestAfterASandboxedAgent:
    @pytest.fixture(autouse=True)
    def _only_where_it_works(self, loop: LoopProject) -> None:
        with loop.open() as app:
            place = app.workplace.confinement
        if why := sandboxes.missing(app.config.chosen("ralph").sandbox.__class__("bwrap"), place):
            cannot(why)
        loop.configure(f"commit = true\n{SANDBOX}")

    @pytest.mark.slow
    def test_git_hooks_in_the_work_tree_are_neither_written_nor_run(self, loop: LoopProject) -> None:
        """As husky has them."""
        canary = loop.root.parent / "canary"
        (loop.root / ".husky").mkdir()
        (loop.root / ".husky" / "pre-push").write_text("#!/bin/sh\n")
        subprocess.run(["git", "config", "core.hooksPath", ".husky"], cwd=loop.root, check=True)
        loop.agent(
            f"printf '#!/bin/sh\\ntouch {canary}\\n' > .husky/post-commit || echo kept > kept\n"
            f"chmod +x .husky/post-commit || :\n{GOOD}"
        )
        run(loop, trusting=True)
        subprocess.run(["git", "commit", "-qam", "by hand", "--allow-empty"], cwd=loop.root, check=True)
        assert (loop.root / "kept").exists()
        assert not canary.exists()

    @pytest.mark.slow
    def test_a_repository_made_by_a_sandboxed_agent_is_moved_away_with_a_warning(self, loop: LoopProject) -> None:
        canary = loop.root.parent / "canary"
        loop.agent(
            "mkdir sub; cd sub; git init -q -b main; git config user.name t; git config user.email t@example.org\n"
            "git commit -q --allow-empty -m x\n"
            f"git config core.fsmonitor 'touch {canary}; false'; cd ..; git add sub 2> /dev/null\n{GOOD}"
        )
        (warning,) = run(loop, trusting=True)
        assert warning.startswith("`sub/.git` was moved to `.samuel/run/quarantine/")
        assert "the setting `core.fsmonitor`" in warning
        subprocess.run(["git", "status"], cwd=loop.root, check=True, capture_output=True)
        assert not canary.exists()

    @pytest.mark.slow
    def test_a_repository_made_by_a_sandboxed_check_is_moved_away(self, loop: LoopProject) -> None:
        canary = loop.root.parent / "canary"
        loop.configure(
            f'commit = true\nevidence = "in place"\n{SANDBOX}\nquality_checks = ["git init -q sub '
            f"&& git -C sub config core.fsmonitor 'touch {canary}'\"]"
        )
        warnings = run(loop, trusting=True)
        assert len(warnings) == 2  # once before the first agent, and once for its attempt
        assert all(line.startswith("`sub/.git` was moved to `.samuel/run/quarantine/") for line in warnings)

    @pytest.mark.slow
    def test_there_is_no_commit_if_a_sandboxed_agent_could_have_written_its_filter(
        self, loop: LoopProject
    ) -> None:
        canary = loop.root.parent / "canary"
        (loop.root / "tools").mkdir()
        (loop.root / "tools" / "clean.sh").write_text("cat\n")
        (loop.root / ".gitattributes").write_text("work-* filter=mine\n")
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        subprocess.run(["git", "commit", "-qm", "tools"], cwd=loop.root, check=True)
        subprocess.run(["git", "config", "filter.mine.clean", "sh tools/clean.sh"], cwd=loop.root, check=True)
        loop.agent(f"echo 'touch {canary}; cat' > tools/clean.sh || :\n{GOOD}")
        (warning,) = run(loop, trusting=True)
        assert warning.startswith("the commit of task 1 failed: `filter.mine.clean` runs `")
        assert "tools/clean.sh`, which a sandboxed agent can change" in warning
        assert (subject(loop), canary.exists()) == ("tools", False)
        assert (loop.root / "tools" / "clean.sh").read_text() == "cat\n"

    @pytest.mark.slow
    def test_a_project_inside_a_repository_is_committed_to_that_one(self, loop: LoopProject) -> None:
        top = loop.root.parent
        (loop.root / ".git").rename(top / ".git")
        (top / ".gitignore").write_text("home/\n")
        subprocess.run(["git", "add", "-A"], cwd=top, check=True)
        subprocess.run(["git", "commit", "-qm", "moved"], cwd=top, check=True)
        loop.agent(f"git init -q . && touch made || :\n{GOOD}")
        run(loop, trusting=True)
        git_output = subprocess.run(
            ["git", "show", "--format=%s", "--name-only"], cwd=top, capture_output=True, text=True
        )
        assert git_output.stdout.split("\n")[0] == "1 Task 1"
        assert f"{loop.root.name}/work-1.txt" in git_output.stdout
        assert not (loop.root / ".git").exists()
        assert not (loop.root / "made").exists()

    @pytest.mark.slow
    def test_a_sandboxed_agent_cannot_make_a_repository_in_a_project_without_one(self, loop: LoopProject) -> None:
        (loop.root / ".git").rename(loop.root.parent / "elsewhere.git")
        loop.agent(f"git init -q . && touch made || :\n{GOOD}")
        assert [line[:31] for line in run(loop, trusting=True)] == [
            "the project is in no git reposi",
            "the commit of task 1 failed: `/",
        ]
        assert not (loop.root / ".git").exists()
        assert not (loop.root / "made").exists()


def cannot(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")
