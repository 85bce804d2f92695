"""A place where attempts can run: how many at once, for which agents, and one command started there.

A place starts `samuel attempt` on its machine, hands it one request and brings its lines back. It knows nothing of
tasks, git or the loop, so each kind of place is one module. What it returns proves nothing by itself: an attempt
has succeeded when its record says so and its work ref exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from samuel.base.errors import SamuelError
from samuel.places.cluster import ClusterChoice


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
    choice: ClusterChoice = ClusterChoice()
    """Which machines of a cluster may run it; a place that is one machine ignores this."""


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

    def problem(self) -> str:
        """Why the place cannot take work now, and what to do about it; "" if it can."""

    def close(self) -> None:
        """Give up the connection; commands under way are cancelled."""
