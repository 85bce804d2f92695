from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

INSIDE = ("SAMUEL_TASK_ID", "SAMUEL_MODE", "SAMUEL_ITERATION", "SAMUEL_MAX_NEW_TASKS")


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in INSIDE:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def store(project: Path) -> TaskStore:
    return TaskStore(project / ".samuel/run")


@pytest.fixture
def three(store: TaskStore) -> TaskStore:
    """A project with three tasks, the second in progress."""
    store.replace_all(
        [
            Task(id="1", title="Write it", status="completed"),
            Task(id="1.10", title="Use it", status="in_progress", priority="high", depends_on=("1",), iteration=2),
            Task(id="2", title="Sell it", depends_on=("1", "1.10")),
        ]
    )
    return store


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """From here on the commands are called by the agent of a run."""

    def enter(**variables: str) -> None:
        monkeypatch.setenv("SAMUEL_RUN_ID", "run-7")
        for name, value in variables.items():
            monkeypatch.setenv(f"SAMUEL_{name}", value)

    return enter
