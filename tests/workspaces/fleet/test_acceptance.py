"""Acceptance tests of tasks that are worked on by other machines."""

from __future__ import annotations

from tests.workspaces.fleet.project import FleetProject
from tests.workspaces.lanes.test_acceptance import CHECK, FILES, HONEST


def test_acceptance_tests_are_written_on_a_machine_and_judge_the_work_on_any(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, checks=CHECK, files=FILES)
    fleet.task("1", f'echo "$SAMUEL_MODE" >> {fleet.outside}/modes\n{HONEST}')
    fleet.start("--acceptance", "agent", *fleet.places(), lanes=0)
    assert (fleet.row("1")["status"], fleet.row("1")["grade"]) == ("completed", "proven")
    assert (fleet.outside / "modes").read_text().split() == ["acceptance", "implementation"]
    assert "test_two" in fleet.git("show", "main:tests/test_answer_1.py")
