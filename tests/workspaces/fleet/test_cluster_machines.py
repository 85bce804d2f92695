"""Which machines of a cluster get work, and how much: what the coordinator decides. Nothing runs here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from samuel.config.place_spec import place_spec
from samuel.history.run import MachineState
from samuel.places.cluster import ClusterMachine
from samuel.places.place import PlaceBroken, PlaceCommand, PlaceConnection
from samuel.workspaces.fleet.machine import FAR_FUTURE, LEFT_OUT_FOR, FleetMachine
from samuel.workspaces.fleet.refusal import MachineRefused

NOW = 1000.0


class Cluster:
    """A place of several machines that runs nothing."""

    name = "ray:auto"

    def __init__(self, *machines: ClusterMachine) -> None:
        self.members = list(machines)
        self.slots = sum(machine.slots for machine in machines)

    def start(self, command: PlaceCommand) -> PlaceConnection:
        raise NotImplementedError

    def machines(self) -> Sequence[ClusterMachine]:
        return self.members

    def problem(self) -> str:
        return ""

    def close(self) -> None:
        """There is no connection."""


@pytest.fixture
def cluster() -> FleetMachine:
    machines = (ClusterMachine("id-1", "10.0.0.1", 2), ClusterMachine("id-2", "10.0.0.2", 2))
    return FleetMachine(place_spec("ray:auto"), Cluster(*machines), (5, 6, 7, 8))


def test_machine_that_refuses_takes_its_slots_along_and_is_named(cluster: FleetMachine) -> None:
    assert cluster.free_lanes((), (), NOW) == [5, 6, 7, 8]

    left_out = cluster.leave_out("id-1", MachineRefused("trust", "not trusted", "trust it"), NOW)

    assert left_out.message == "`ray:auto/10.0.0.1` gets no work in this run: not trusted"
    assert left_out.hint == "trust it"
    assert cluster.avoided((), NOW) == cluster.avoided((), FAR_FUTURE) == {"id-1"}
    assert cluster.free_lanes((), (), NOW) == [5, 6]
    assert cluster.free_lanes((5,), (), NOW) == [6]
    assert cluster.free_lanes((5, 8), (), NOW) == []
    assert cluster.machine_states() == (
        MachineState(name="10.0.0.1", slots=2, why="not trusted"),
        MachineState(name="10.0.0.2", slots=2),
    )


def test_machine_that_lacks_what_may_come_is_tried_again(cluster: FleetMachine) -> None:
    refused = MachineRefused("disk", "only 3 MB are free", lasting=False)
    assert f"gets no work for {LEFT_OUT_FOR:g}s" in cluster.leave_out("id-1", refused, NOW).message
    assert not cluster.is_gone("id-1")
    assert cluster.avoided((), NOW + LEFT_OUT_FOR - 1) == {"id-1"}
    assert cluster.avoided((), NOW + LEFT_OUT_FOR) == set()


def test_cluster_without_a_machine_that_can_work_counts_as_drained(cluster: FleetMachine) -> None:
    cluster.leave_out("id-1", PlaceBroken("exit codes do not arrive"), NOW)
    assert cluster.is_gone("id-1")
    assert not cluster.is_drained(())
    assert cluster.is_drained(("ray:auto/10.0.0.2",))
    assert cluster.free_lanes((), ("ray:auto/10.0.0.2",), NOW) == []
    assert cluster.is_drained(("ray:auto",))

    cluster.leave_out("id-2", MachineRefused("remote", "away", lasting=False), NOW)
    assert not cluster.has_others((), NOW)
    assert cluster.has_others((), FAR_FUTURE), "it may work later"
    assert not cluster.is_drained(())


def test_machine_that_is_started_anew_is_another_one(cluster: FleetMachine) -> None:
    cluster.leave_out("id-1", MachineRefused("trust", "not trusted"), NOW)
    assert isinstance(cluster.place, Cluster)
    cluster.place.members[0] = ClusterMachine("id-3", "10.0.0.1", 2)
    assert cluster.avoided((), NOW) == set()
    assert cluster.free_lanes((), (), NOW) == [5, 6, 7, 8]


def test_machine_with_a_problem_gets_no_work(cluster: FleetMachine) -> None:
    assert isinstance(cluster.place, Cluster)
    cluster.place.members[1] = ClusterMachine("id-2", "10.0.0.2", 0, "exit codes do not arrive")
    assert cluster.avoided((), NOW) == {"id-2"}
    assert cluster.free_lanes((), (), NOW) == [5, 6]
