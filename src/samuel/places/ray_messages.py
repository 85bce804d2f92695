"""What the coordinator and its Ray driver tell each other: one line of JSON per message."""

from __future__ import annotations

from typing import Literal

import msgspec

from samuel.places.ray_guard import GRACE
from samuel.places.ray_resources import RayMachine


class RayLimits(msgspec.Struct, frozen=True):
    """Seconds after which something that Ray would wait for without end is given up."""

    connect: float = 120.0
    """For the cluster to answer and each of its machines to pass its test."""
    watch: float = 5.0
    """Between two looks at which machines live."""
    head: float = 60.0
    """Without an answer of the head, which then counts as dead."""
    silence: float = 0.0
    """Without a line of an attempt, which then counts as lost; 0 for an attempt that may be silent."""
    queue: float = 120.0
    """For an attempt to be started once it was handed to Ray."""
    cancel: float = GRACE
    """For a cancelled attempt to end by itself."""


class RaySettings(msgspec.Struct, frozen=True):
    """The first line that the driver reads."""

    address: str
    limits: RayLimits
    program: tuple[str, ...] = ()


class RayStart(msgspec.Struct, frozen=True, tag="start"):
    id: int
    arguments: tuple[str, ...]
    request: bytes
    resources: dict[str, float]
    machine: str = ""
    """The id of the only node that may run it; "" for any."""
    avoided: tuple[str, ...] = ()
    """The ids of nodes that may not."""


class RayCancel(msgspec.Struct, frozen=True, tag="cancel"):
    id: int


class RayOffer(msgspec.Struct, frozen=True, tag="offer"):
    """The machines of the cluster: when the driver is ready, and whenever they change."""

    machines: tuple[RayMachine, ...]


class RayRefused(msgspec.Struct, frozen=True, tag="refused"):
    """The cluster cannot be used; the driver ends."""

    why: str
    lost: bool
    """Whether it may work later without anybody doing anything about it."""


class RayBegan(msgspec.Struct, frozen=True, tag="began"):
    """An attempt has a worker."""

    id: int
    machine: str
    """The id of its node."""


class RayLines(msgspec.Struct, frozen=True, tag="lines"):
    id: int
    lines: list[bytes]


class RayEnded(msgspec.Struct, frozen=True, tag="ended"):
    id: int
    how: Literal["ended", "cancelled", "lost", "broken"]
    why: str = ""


ToDriver = RayStart | RayCancel
FromDriver = RayOffer | RayRefused | RayBegan | RayLines | RayEnded
