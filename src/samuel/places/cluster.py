"""A place that chooses among machines itself, which a Ray cluster is: what it offers, and what it may be told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable


class ClusterMachine(NamedTuple):
    """One of the machines among which a place chooses."""

    id: str
    name: str
    """What people call it: its address."""
    slots: int
    problem: str = ""
    """Why it cannot run attempts; "" if it can."""


class ClusterChoice(NamedTuple):
    """Which machines of a cluster may run a command."""

    resources: Mapping[str, float] = MappingProxyType({})
    """What it needs of the machine, for example `{"agent": 1, "claude": 1}`."""
    machine: str = ""
    """The id of the only machine that may run it; "" for any."""
    avoided: Collection[str] = ()
    """The ids of the machines that may not."""


@runtime_checkable
class Cluster(Protocol):
    def machines(self) -> Sequence[ClusterMachine]:
        """The machines among which the place chooses, those that live."""


def machines_of(place: object) -> Sequence[ClusterMachine]:
    """The machines of a cluster that live; () for a place that is one machine itself."""
    return place.machines() if isinstance(place, Cluster) else ()
