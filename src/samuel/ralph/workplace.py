"""Where a loop works and what it works with: one project, one methodology, its state and its tools.

The built-in handlers and the loop are given this; they look nothing up themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samuel.agents.table import find
from samuel.clock import Clock
from samuel.config.model import AgentSettings, Methodology
from samuel.files.atomic import DISK, Disk
from samuel.process import confine
from samuel.process.git import Git
from samuel.tasks.store import TaskStore

Watch = Callable[[str, Mapping[str, Any]], None]


def nobody(kind: str, facts: Mapping[str, Any]) -> None:
    """Watches nothing."""


@dataclass(frozen=True)
class Workplace:
    root: Path
    state: Path  # .samuel/run/, or .samuel/run/<methodology>/
    templates: Path
    cache: Path
    settings: Methodology
    agents: Mapping[str, AgentSettings]
    environment: Mapping[str, str]  # what quality commands see
    host: Mapping[str, str]  # where `$NAME` references are looked up
    clock: Clock
    git: Git
    tasks: TaskStore
    disk: Disk = DISK
    watch: Watch = nobody

    def agent_env(self, name: str) -> dict[str, str]:
        """What the agent may see of the host: by name, so that no handler and no journal sees a value."""
        return {variable: f"${variable}" for variable in find(name, self.agents).env if variable in self.host}

    @property
    def confinement(self) -> confine.Place:
        """The project as a sandbox sees it."""
        return confine.Place(self.root, self.state, self.host, self.cache)

    @property
    def prd(self) -> Path:
        return self.state / "prd.toon"

    @property
    def progress(self) -> Path:
        return self.state / "progress.md"

    @property
    def logs(self) -> Path:
        return self.state / "logs"
