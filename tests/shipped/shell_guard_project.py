"""A home directory with a project that has something to lose, and what `shell_guard` decides there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from samuel.events import PreAbilityCall
from samuel.events.event import Plugin
from samuel.shipped.shell_guard.hook import hook

Decide = Callable[..., tuple[str, str]]
CORPORA = Path(__file__).parent


def git(root: Path, *args: str) -> None:
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    subprocess.run(["git", *identity, *args], cwd=root, check=True, capture_output=True)


def make_places(home: Path) -> None:
    """The project has a remote, pushed commits, changes and untracked files."""
    root = home / "work" / "project"
    for name in ("README.md", "src/app.py", "package.json", "build/app.o", "VERSION", "node_modules/.bin/tsc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}\n")
    (root / "package.json").write_text('{"devDependencies": {"typescript": "5", "eslint": "9"}}')
    (root / ".gitignore").write_text("build/\n.env\nnode_modules/\n")
    (home / "work" / "other").mkdir()
    (home / "work" / "other" / "notes.txt").touch()
    git(home, "init", "-q", "--bare", "-b", "main", str(home / "origin.git"))
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.email", "me@example.com")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    git(root, "branch", "merged")
    git(root, "remote", "add", "origin", str(home / "origin.git"))
    git(root, "push", "-q", "-u", "origin", "main")
    git(root, "remote", "set-head", "origin", "main")
    git(root, "switch", "-q", "-c", "experiment")
    git(root, "commit", "-q", "--allow-empty", "-m", "nowhere else")
    git(root, "switch", "-q", "-c", "feature", "main")
    (root / "VERSION").write_text("1\n")
    git(root, "commit", "-q", "-a", "-m", "second")
    git(root, "push", "-q", "-u", "origin", "feature")
    (root / "README.md").write_text("changed\n")
    (root / "notes.txt").write_text("never added\n")
    (root / ".env").write_text("KEY=1\n")


def decision_in(home: Path, ability_id: str, tool_input: Any, config: dict[str, Any]) -> tuple[str, str]:
    """The decision about a call and the rule that made it; empty if there is none."""
    event = PreAbilityCall(
        ability_id=ability_id,
        tool_input=tool_input,
        project_root=str(home / "work" / "project"),
        plugin=Plugin(name="shell_guard", config=config, data_dir=""),
    )
    answer = hook(event)
    rule = str(answer.get("reason", "")).rpartition("(rule `")[2].partition("`")[0]
    return str(answer.get("decision", "")), rule


def corpus(name: str) -> dict[str, list[str]]:
    """The commands of a file by its sections."""
    sections: dict[str, list[str]] = {"": []}
    for line in (CORPORA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            sections[line[3:]] = []
        elif line and not line.startswith("# "):
            sections[next(reversed(sections))].append(line.replace("\\n", "\n"))
    return sections
