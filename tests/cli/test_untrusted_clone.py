"""A clone that brings programs with the names that Samuel starts: none of them may run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Samuel

NAMES = ("git", "bwrap", "podman", "docker", "env", "sh")
COMMANDS = (
    ("session", "start"),
    ("hooks", "list"),
    ("doctor",),
    ("trust", "--show"),
    ("run", "start", "--dry-run"),
    ("plugin", "add", "--yes", "https://localhost:1/org/repo.git"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("entry", ["", ".", "./bin", "PROJECT/bin"])
@pytest.mark.sampled(every=5)
def test_a_clone_s_own_programs_do_not_run_whatever_path_says(
    put: Callable[..., Path], project: Path, machine: Path, fast_samuel: Path, entry: str, command: tuple[str, ...]
) -> None:
    canary = machine / "canary"
    for name in NAMES:
        for place in (name, f"bin/{name}"):
            put(place, f"#!/bin/sh\necho {name} \"$@\" >> '{canary}'\n", 0o755)
    put("samuel.toml", '[methodology.ralph]\nsandbox = "bwrap"\n')
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    path = f"{entry.replace('PROJECT', str(project))}:{os.environ['PATH']}"
    if entry.startswith("PROJECT"):  # what lies in the project by its full name is only kept from being git
        for name in NAMES[1:]:
            (project / "bin" / name).unlink()
    subprocess.run(
        [fast_samuel / "samuel", *command],
        env={**os.environ, "PATH": path},
        cwd=project,
        capture_output=True,
        timeout=300,
    )
    assert not canary.exists(), canary.read_text()


def test_git_hooks_are_something_to_agree_to(put: Callable[..., Path], project: Path, samuel: Samuel) -> None:
    put("samuel.toml", "[methodology.ralph]\ncommit = true\ncommit_hooks = true\n")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    put(".githooks/pre-commit", "#!/bin/sh\necho from the hook\n", 0o755)
    subprocess.run(["git", "config", "core.hooksPath", ".githooks"], cwd=project, check=True)
    text = samuel("trust", "--show").out
    assert "commit-hooks:ralph  (new" in text
    assert "echo from the hook" in text
    samuel("trust", "--yes")
    assert "trusted  commit-hooks:ralph" in samuel("trust", "--list").out
    put(".githooks/post-commit", "#!/bin/sh\n", 0o755)
    assert "commit-hooks:ralph  (changed" in samuel("trust", "--show").out
