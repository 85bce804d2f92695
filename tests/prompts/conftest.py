"""Projects in several languages, and the means to count them without Samuel."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.git.git import Git
from samuel.process import environment
from samuel.prompts.snapshot import Snapshot, take

# What is on disk, tracked or not, and not ignored: `there`, or `there '*.py'`. And the sum of a column of numbers.
PRELUDE = r"""
there() { git ls-files -z -co --exclude-standard -- "$@" |
    while IFS= read -r -d '' file; do if [ -f "$file" ]; then printf '%s\n' "$file"; fi; done | sort -u; }
total() { awk '{ sum += $1 } END { print sum + 0 }'; }
"""


class Project:
    def __init__(self, root: Path, cache: Path, git: Callable[..., str]) -> None:
        self.root, self.cache, self._git = root, cache, git
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        self.ours = Git(root, environment.clean({"HOME": str(root.parent)}))

    def git(self, *args: str) -> str:
        return self._git(self.root, *args)

    def write(self, path: str, text: str | bytes = "x\n") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, subject: str = "work") -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def snapshot(self) -> Snapshot:
        return take(self.root, self.ours, self.cache)

    def afresh(self, cache: Path) -> Snapshot:
        """The same with nothing known."""
        return take(self.root, self.ours, cache)

    def sh(self, script: str) -> list[str]:
        """What a shell script prints: the independent count."""
        env = {**os.environ, "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.root.parent)}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", PRELUDE + script],
            cwd=self.root,
            env=env,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("utf-8", "surrogateescape").splitlines()

    def number(self, script: str) -> int:
        return int(self.sh(script)[0])


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Project:
    return Project(tmp_path / "project", tmp_path / "cache", git)
