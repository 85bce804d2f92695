"""Review of work that is done by other machines: it runs there, before the work comes back."""

from __future__ import annotations

from tests.workspaces.fleet.project import FleetProject
from tests.workspaces.lanes.test_review import VERDICT

SETTINGS = '[methodology.ralph.review]\nagent = "mine"\n'


def test_work_of_a_machine_is_reviewed_there(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, settings=SETTINGS)
    fleet.task("1", f'echo "$SAMUEL_MODE" >> {fleet.outside}/modes\n{VERDICT}')
    fleet.start(*fleet.places(), lanes=0)
    assert (fleet.row("1")["status"], fleet.row("1")["reviewed"]) == ("completed", "accepted by mine")
    assert (fleet.outside / "modes").read_text().split() == ["implementation", "review"]
