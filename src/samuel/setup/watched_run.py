"""The run of a project, for a view that has not opened the project."""

from __future__ import annotations

from pathlib import Path

from samuel import config
from samuel.base import paths
from samuel.display.now.watcher import RunWatcher, WatchedProject
from samuel.setup.run_state import configured_methodology, state_directory


def run_watcher(root: Path, methodology: str = "") -> RunWatcher:
    """Looks at the current or the last run of this project."""
    settings, user = config.load(root / paths.CONFIG), paths.User.from_environment()
    state = state_directory(root, methodology)
    budgets = settings.chosen(configured_methodology(settings, methodology)).budgets
    return RunWatcher(WatchedProject(root, state, user.record(state), user.live, budgets))
