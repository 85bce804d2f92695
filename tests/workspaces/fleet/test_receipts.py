"""Receipts of work that was done on other machines: in the notes of the coordinator, the same as of any other."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workspaces.fleet.project import FleetProject

WORK = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"'


def receipts(fleet: FleetProject, start: str) -> dict[str, dict[str, Any]]:
    """What the receipts of tasks say, by task; the rest of the commits are merges."""
    predicates = {}
    for commit in fleet.git("rev-list", f"{start}..main").split():
        predicate = fleet.samuel("verify", commit, "--json").data["receipts"][0]
        assert predicate["answer"] == "same", predicate
        predicates[predicate["title"]] = predicate
    return predicates


@pytest.mark.parametrize("place", ["own tree", "lanes", "machines"])
def test_every_commit_has_a_receipt_that_verifies_wherever_it_was_made(fleet: FleetProject, place: str) -> None:
    fleet.prepare_fleet(2, machines=("m1", "m2") if place == "machines" else ())
    fleet.task("any", WORK)
    if place == "own tree":  # elsewhere there is a commit in any case
        config = fleet.root / "samuel.toml"
        config.write_text(config.read_text().replace("pause", "commit = true\npause"))
        fleet.git("commit", "-q", "-a", "-m", "commits")
    start = fleet.git("rev-parse", "main").strip()
    options = fleet.places(names=("m1", "m2")) if place == "machines" else []
    fleet.start(*options, lanes={"own tree": 1, "lanes": 2, "machines": 0}[place])
    commits = fleet.git("rev-list", f"{start}..main").split()
    noted = [line.split()[1] for line in fleet.git("notes", "--ref=samuel", "list").splitlines()]
    assert sorted(noted) == sorted(commits)
    grades = {title: receipt["grade"] for title, receipt in receipts(fleet, start).items() if receipt["grade"]}
    assert sorted(grades.values()) == ["checked", "checked"]
