"""A project with recipes and an agent that is a shell script: real processes throughout."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from samuel.app import App
from samuel.attempt.turn.agent_session import SessionResult
from samuel.cli.recipe.run import session_of
from samuel.history.notices import Report
from samuel.skills.recipe import Recipe, find_recipes
from samuel.skills.text_files import choose
from samuel.testing import SamuelProject

# Says what it was told, and changes a file.
AGENT = "cat\necho changed > made.txt\n"


class Kitchen:
    def __init__(self, project: SamuelProject) -> None:
        self.project = project
        self.root = project.root
        self.reports: list[Report] = []
        self.agent(AGENT)
        project.config(
            '[methodology.ralph]\nagent = "mine"\n'
            '[agents.mine]\ncommand = ["./agent.sh"]\nprompt = "stdin"\nunguarded = "accept"\n'
            '[agents.filed]\ncommand = ["/bin/cat", "{prompt_file}"]\n'
        )

    def agent(self, script: str) -> None:
        file = self.root / "agent.sh"
        file.write_text(f"#!/bin/sh\n{script}")
        file.chmod(0o755)

    def put(self, path: str, text: str, base: Path | None = None) -> Path:
        file = (base or self.root) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def recipe(self, name: str, text: str, base: Path | None = None) -> Path:
        return self.put(f".samuel/recipes/{name}.md", text, base)

    def find(self) -> list[Recipe]:
        with self.open() as app:
            return find_recipes(app.paths.root, app.user.home, app.plugins.usable)

    def open(self, **options: Any) -> App:
        return self.project.open(**{"trust_everything": True, "watch": self.reports.append, **options})

    def run(
        self, name: str, agent: str = "", options: Mapping[str, Any] | None = None, **arguments: str
    ) -> SessionResult:
        with self.open(**(options or {})) as app:
            recipe = choose(find_recipes(app.paths.root, app.user.home, app.plugins.usable), name, "recipe")
            prompt = recipe.prompt(app.context(), arguments)
            return session_of(app.workplace, app.fire, app.prompt_context(), recipe, agent).run(prompt)


@pytest.fixture
def kitchen(samuel_project: SamuelProject) -> Kitchen:
    new_kitchen = Kitchen(samuel_project)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *arguments], cwd=new_kitchen.root, check=True, capture_output=True)
    return new_kitchen
