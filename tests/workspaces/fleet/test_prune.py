"""`samuel fleet prune`: what it removes on a machine and on the remote, and what stays."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest
from tests.places.contract import wait_for
from tests.workspaces.fleet.project import FleetProject

WORK = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"'


def refs_on(fleet: FleetProject, name: str) -> list[str]:
    clone = fleet.machines.home(name) / "clone"
    return fleet.git("for-each-ref", "--format=%(refname)", "refs/samuel", cwd=clone).split()


def lanes_on(fleet: FleetProject, name: str) -> list[Path]:
    return sorted((fleet.machines.home(name) / "state/samuel/lanes").glob("*-fleet/[0-9]"))


def pruned(fleet: FleetProject, name: str = "m1", code: int = 0) -> dict[str, Any]:
    answers = fleet.samuel("fleet", "prune", *fleet.places(names=(name,)), "--json", code=code).data
    return {entry["place"]: entry for entry in answers}


@pytest.mark.slow
def test_refs_and_lanes_of_a_finished_run_are_removed_and_the_next_run_makes_new_ones(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1",))
    # The first attempt at the second task fails: what it left is in a ref of the machine and of the coordinator.
    fleet.task("2", f"if [ -e broken ]; then rm broken; {WORK}; else touch broken; fi")
    fleet.start(*fleet.places(names=("m1",)), lanes=0)
    fleet.assert_sound(2)
    clone = fleet.machines.home("m1") / "clone"
    fleet.git("update-ref", "refs/samuel/run-of-another/1/1", "HEAD", cwd=clone)
    before = [ref for ref in refs_on(fleet, "m1") if fleet.run_id() in ref]
    assert before
    assert len(lanes_on(fleet, "m1")) == 1

    answers = pruned(fleet)

    assert sorted(answers["ssh:m1"]["refs"]) == sorted(before)
    assert len(answers["ssh:m1"]["lanes"]) == 1
    assert answers["ssh:m1"]["left"] == []
    assert answers["remote origin"]["ok"]
    assert refs_on(fleet, "m1") == ["refs/samuel/run-of-another/1/1"], "it belongs to another run"
    assert lanes_on(fleet, "m1") == []
    fleet.git("fsck", "--no-dangling", cwd=clone)
    again = pruned(fleet)["ssh:m1"]
    assert (again["refs"], again["lanes"], again["left"]) == ([], [], [])

    fleet.samuel("run", "reset", "1")
    fleet.task("1", "echo again > again.txt")
    fleet.start(*fleet.places(names=("m1",)), lanes=0)
    assert fleet.git("show", "main:again.txt") == "again\n"


@pytest.mark.slow
def test_what_only_the_machine_has_stays_and_is_named(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    fleet.start(*fleet.places(names=("m1",)), lanes=0)
    clone, (lane,) = fleet.machines.home("m1") / "clone", lanes_on(fleet, "m1")
    (lane / "only-here.txt").write_text("only here\n")
    tree = fleet.git("mktree", cwd=clone, stdin="")
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    commit = fleet.git(*person, "commit-tree", "-m", "left", tree.strip(), cwd=clone).strip()
    ref = f"refs/samuel/{fleet.run_id()}/1/9"
    fleet.git("update-ref", ref, commit, cwd=clone)

    ran = fleet.samuel("fleet", "prune", *fleet.places(names=("m1",)))

    assert f"ssh:m1: {ref} stays: this repository does not have its files" in ran.screen
    assert f"ssh:m1: {lane} stays" in ran.screen
    assert refs_on(fleet, "m1") == [ref]
    assert (lane / "only-here.txt").read_text() == "only here\n"


@pytest.mark.slow
def test_lane_in_which_somebody_works_stays(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    fleet.start(*fleet.places(names=("m1",)), lanes=0)
    (lane,) = lanes_on(fleet, "m1")
    with lane.with_name(f"{lane.name}.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = pruned(fleet)["ssh:m1"]
    assert (answer["lanes"], answer["left"]) == ([], [])
    assert lane.is_dir()


@pytest.mark.slow
def test_run_that_is_under_way_or_can_be_resumed_keeps_what_it_has(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1",))
    wait = f"while [ ! -e {fleet.outside}/go ]; do sleep 0.05; done"
    fleet.task("2", f"touch {fleet.outside}/second; {wait}; {WORK}")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: (fleet.outside / "second").exists(), process)
        ran = fleet.samuel("fleet", "prune", *fleet.places(names=("m1",)), code=None)
        assert ran.code == 1
        assert "run.lock` is locked by" in ran.screen
        fleet.kill(process)
    wait_for(lambda: fleet.machines.attempts("m1") == [])
    refs, remote = refs_on(fleet, "m1"), fleet.remote_refs()
    assert remote

    answer = pruned(fleet)["ssh:m1"]

    assert answer["refs"] == []
    assert refs_on(fleet, "m1") == refs
    assert fleet.remote_refs() == remote
    (fleet.outside / "go").touch()
    fleet.start(lanes=0)
    fleet.assert_sound(2)


@pytest.mark.slow
def test_remote_loses_the_refs_of_a_run_that_ended_early_but_not_those_that_nobody_has(
    fleet: FleetProject,
) -> None:
    fleet.prepare_fleet(3, machines=("m1",))
    fleet.task("2", "false")
    fleet.start(*fleet.places(names=("m1",)), "--iterations", "2", lanes=0, code=None)
    run, head = fleet.run_id(), fleet.git("rev-parse", "HEAD").strip()
    assert fleet.remote_refs(), "they stay for the next start"
    tree = fleet.git("mktree", stdin="").strip()
    unknown = fleet.git("commit-tree", "-p", head, "-m", "of a machine that was given up", tree).strip()
    for kind in ("work", "record"):
        fleet.git("push", "-q", str(fleet.bare), f"{unknown}:refs/samuel/{run}/{kind}/3/1-9")
        fleet.git("push", "-q", str(fleet.bare), f"{head}:refs/samuel/run-of-others/{kind}/3/1-9")
    fleet.git("gc", "-q", "--prune=now")

    answer = pruned(fleet)["remote origin"]

    left = [f"refs/samuel/{run}/{kind}/3/1-9" for kind in ("record", "work")]
    assert answer["left"] == left
    assert answer["refs"]
    others = [f"refs/samuel/run-of-others/{kind}/3/1-9" for kind in ("record", "work")]
    assert fleet.remote_refs() == [*left, *others]


@pytest.mark.slow
def test_place_that_cannot_be_reached_is_named(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=())
    answers = pruned(fleet, code=1)
    assert answers["ssh:m1"]["code"] == "directory"
    assert fleet.samuel("fleet", "prune", "--place", "ssh:m2:1", "--json").data[0]["ok"], "there is no clone yet"
    assert not list((fleet.machines.home("m2")).rglob(".git")), "and none was made"
