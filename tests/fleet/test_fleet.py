"""Runs whose attempts happen on other machines: real ssh, real git, three machines."""

from __future__ import annotations

from tests.fleet.project import FleetProject
from tests.length import at_length

TASKS = at_length(6, 60)


def test_each_task_lands_once_with_agents_on_three_machines(fleet: FleetProject) -> None:
    fleet.prepare_fleet(TASKS)

    data = fleet.start("--json", *fleet.places(slots=2), lanes=0).data

    assert data["exit_reason"] == "queue_empty"
    fleet.assert_sound(TASKS)
    assert len(fleet.calls()) == TASKS
