"""What a person says to a run whose agents work on other machines."""

from __future__ import annotations

from tests.workspaces.fleet.project import FleetProject


def test_an_attempt_on_another_machine_reads_what_was_said_and_starts_again_now(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    mark = f"{fleet.outside}/begun"
    fleet.task("1", f"if [ ! -e {mark} ]; then touch {mark}; sleep 600; fi; echo 1 > work-1.txt")
    fleet.samuel("run", "say", "--task", "1", "use the standard library")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for((fleet.outside / "begun").exists, process)
        fleet.samuel("run", "say", "--now", "look at reader.py")
        assert process.wait(timeout=600) == 0, fleet.screen
    first, second = fleet.prompts("1")
    assert "use the standard library" in first
    assert "look at reader.py" not in first
    assert "use the standard library" in second
    assert "look at reader.py" in second
    attempts = fleet.samuel("run", "show", "--json").data["attempts"]
    assert [(row["outcome"], row["attempt"], row["machine"]) for row in attempts] == [
        ("restarted", 1, "m1"),
        ("completed", 1, "m1"),
    ]
    assert [entry["text"] for entry in attempts[1]["guidance"]] == [
        "use the standard library",
        "look at reader.py",
    ]
