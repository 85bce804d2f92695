"""A place where attempts can run: how many at once, for which agents, and one command started there.

A place starts `samuel attempt` on its machine, hands it one request and brings its lines back. It knows nothing of
tasks, git or the loop, so each kind of place is one module. What it returns proves nothing by itself: an attempt
has succeeded when its record says so and its work ref exists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from samuel.base.errors import SamuelError


class PlaceLost(SamuelError):
    """The connection or the machine is gone. It says nothing about the task, and costs no attempt."""


class PlaceBroken(SamuelError):
    """The place cannot run commands as it should. It gets no more work, and costs no attempt."""


class PlaceCommand(NamedTuple):
    """One `samuel` command to run at a place."""

    arguments: Sequence[str]
    """What follows `samuel` on the command line, for example `("attempt",)`."""
    request: bytes
    """What the command reads from its standard input: one line of JSON."""
    resources: Mapping[str, float]
    """What the attempt needs of the machine, for example `{"agent": 1, "claude": 1}`."""
    machine: str = ""
    """The id of the only machine of a cluster that may run it; "" for any."""
    avoided: Collection[str] = ()
    """The ids of the machines of a cluster that may not."""


class ClusterMachine(NamedTuple):
    """One of the machines among which a place chooses."""

    id: str
    name: str
    """What people call it: its address."""
    slots: int
    problem: str = ""
    """Why it cannot run attempts; "" if it can."""


class PlaceConnection(Protocol):
    """A command under way at a place."""

    @property
    def machine(self) -> str:
        """The id of the machine of a cluster that runs it; "" until that is known, and where there is one only."""

    def lines(self) -> Iterator[bytes]:
        """The lines that the command prints, in order and as they come; it ends with the command.

        Raises PlaceLost or PlaceBroken.
        """

    def cancel(self) -> None:
        """End the command and everything that it started. May be called from another thread, and twice."""


class Place(Protocol):
    name: str
    """What people call it: `ssh:build1`."""
    slots: int
    """How many attempts may run there at once."""

    def start(self, command: PlaceCommand) -> PlaceConnection:
        """Start the command; raises PlaceLost or PlaceBroken if that is not possible."""

    def resources(self) -> Mapping[str, float] | None:
        """What the place offers as a whole; None if it does not count anything but slots."""

    def machines(self) -> Sequence[ClusterMachine]:
        """The machines among which the place chooses, those that live; () if it is one machine itself."""

    def problem(self) -> str:
        """Why the place cannot take work now, and what to do about it; "" if it can."""

    def close(self) -> None:
        """Give up the connection; commands under way are cancelled."""
