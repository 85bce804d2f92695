"""What a run holds does not depend on how long it is."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import samuel
from samuel.attempt.stop import Stop
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task
from samuel.testing import SamuelProject

SETTINGS = """
[methodology.ralph]
agent = "scripted"
pause = "0s"
max_task_attempts = 100000
max_consecutive_failures = 100000
"""
FIRST, LAST = 10, 30


@pytest.mark.slow
def test_an_iteration_leaves_no_objects_behind(samuel_project: SamuelProject) -> None:
    samuel_project.config(SETTINGS)
    store = TaskStore(samuel_project.root / ".samuel/run")
    store.replace_all([Task(id=str(number), title=f"Task {number}") for number in range(1, 6)])
    objects: dict[int, int] = {}

    @samuel.hook("agent.invoke")
    def agent(event: Any) -> dict[str, Any]:
        if event.iteration in (FIRST, LAST):
            gc.collect()
            objects[event.iteration] = len(gc.get_objects())
        return {"exit_code": 0, "stdout": "", "stderr": ""}

    with samuel_project.open(handlers=[agent]) as app:
        run = app.loop(Stop()).run(LAST, ["scripted"])
    assert run.iterations_run == LAST
    # Fewer than one for each iteration: what is left is of caches that are filled once.
    assert objects[LAST] - objects[FIRST] < LAST - FIRST
