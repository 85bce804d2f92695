"""What `shell_guard` says to a command, in a project that has something to lose."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from samuel.events import PreAbilityCall
from samuel.events.event import Plugin
from samuel.shipped.shell_guard.hook import hook

UNSAVED = ("README.md", "notes.txt")
"""Files of the project that git cannot bring back: one is changed, one was never added."""
FILES = ("README.md", "src/app.py", "package.json", "Makefile", "build/app.o", "notes.txt")


class Judgement(NamedTuple):
    decision: str
    rule: str

    @property
    def stops(self) -> bool:
        return self.decision in ("deny", "ask")


class Judge:
    """Asks the guard as the server does: the function of the hook, in this process."""

    def __init__(self, scratch: Path) -> None:
        home, self.root = scratch / "home", scratch / "home" / "work" / "project"
        os.environ |= {"HOME": str(home), "XDG_STATE_HOME": str(home / ".local" / "state"), "SAMUEL_ENV": ""}
        _make_project(self.root)
        self._plugin = Plugin(name="shell_guard", config={}, data_dir="")

    def __call__(self, command: str) -> Judgement:
        event = PreAbilityCall(
            ability_id="shell",
            tool_input={"command": command},
            project_root=str(self.root),
            plugin=self._plugin,
        )
        answer = hook(event)
        match = re.search(r"rule `([\w-]+)` of shell_guard", str(answer.get("reason", "")))
        return Judgement(str(answer.get("decision", "")), match[1] if match else "")


def _make_project(root: Path) -> None:
    """A repository with a remote, a pushed commit, changes, a file that git has never seen, and a stash."""
    for name in FILES[:-1]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}\n")
    (root / ".gitignore").write_text("build/\n")
    origin = root.parent / "origin.git"
    _git(root.parent, "init", "-q", "--bare", "-b", "main", str(origin))
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", ".")
    _commit(root, "first")
    _git(root, "remote", "add", "origin", str(origin))
    _git(root, "push", "-q", "-u", "origin", "main")
    _git(root, "remote", "set-head", "origin", "main")
    (root / "src" / "app.py").write_text("stashed\n")
    _git(root, "-c", "user.name=a", "-c", "user.email=a@b", "stash", "-q")
    _git(root, "switch", "-q", "-c", "feature")
    (root / "src" / "app.py").write_text("own\n")
    _commit(root, "second", "-a")
    (root / "README.md").write_text("changed\n")
    (root / FILES[-1]).write_text("never added\n")


def _commit(root: Path, message: str, *options: str) -> None:
    _git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", message, *options)


def _git(directory: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=directory, check=True, capture_output=True)
