"""A project, a home and plugins, each with texts on its shelves."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.plugins.installed import GLOBAL, LOCAL, InstalledPlugin, examine
from samuel.skills.skill import Skill, find_skills


class Place:
    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.home = base / "home"
        self.plugins: list[InstalledPlugin] = []
        self.root.mkdir()
        self.home.mkdir()

    def put(self, path: str, text: str, base: Path | None = None) -> Path:
        file = (base or self.root) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def skill(self, path: str, description: str = "Does it.", base: Path | None = None) -> Path:
        """A good one at `path`/SKILL.md."""
        name = path.rpartition("/")[2]
        return self.put(f"{path}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\nHow.\n", base)

    def plugin(self, directory: str, *, user: bool = False, manifest: str = "") -> Path:
        """An empty plugin of the project or of its user; give it texts before `find`."""
        base = self.home if user else self.root
        plugin_directory = base / ".samuel/plugins" / directory
        plugin_directory.mkdir(parents=True)
        if manifest:
            text = f'name = "{manifest}"\nversion = "1"\nkind = "skill"\n'
            (plugin_directory / "samuel-plugin.toml").write_text(text)
        self.plugins.append(examine(plugin_directory, GLOBAL if user else LOCAL))
        assert self.plugins[-1].problems == ()
        return plugin_directory

    def find(self) -> list[Skill]:
        return find_skills(self.root, self.home, self.plugins)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
