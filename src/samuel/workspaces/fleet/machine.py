"""A place of a run, and what came of giving it work."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

from samuel.base.errors import SamuelError
from samuel.config.place_spec import PlaceSpec
from samuel.history.run import MachineState, PlaceState
from samuel.places.cluster import machines_of
from samuel.places.place import Place, PlaceBroken
from samuel.workspaces.fleet.refusal import MachineRefused

FAR_FUTURE = math.nextafter(math.inf, 0)  # after every pause; only what is left out for good still is then
LEFT_OUT_FOR = 60.0  # seconds that a machine of a cluster gets no work if what it lacks may come


class MachineLeftOut(SamuelError):
    """One machine of a cluster cannot work. It gets no work, and the others go on; it costs no attempt."""


class AvoidedUntil(NamedTuple):
    """Why a machine of a cluster gets no work, and until when."""

    why: str
    until: float = math.inf


class FleetMachine:
    """One place, which is a machine or a cluster of them, and what came of giving it work."""

    def __init__(self, spec: PlaceSpec, place: Place, lanes: tuple[int, ...]) -> None:
        self.spec = spec
        self.place = place
        self.state = PlaceState(lanes=lanes)
        self.troubles = 0  # in a row
        self.troubled_at = 0.0  # what began before the last trouble is lost by the same one
        self.is_busy_checking = False
        self.left_out: dict[str, AvoidedUntil] = {}
        """The machines of a cluster that refused, by id: one that is restarted has another."""

    @property
    def name(self) -> str:
        return self.place.name

    def free_lanes(self, taken: Collection[int], drained: Collection[str], now: float) -> list[int]:
        """The slots that can take work now: no more than those machines of a cluster have that can work."""
        free = [lane for lane in self.state.lanes if lane not in taken]
        if self.name in drained:
            return []
        machines = machines_of(self.place)
        if not machines:
            return free
        avoided = self.avoided(drained, now)
        usable = sum(machine.slots for machine in machines if machine.id not in avoided)
        return free[: max(0, usable - (len(self.state.lanes) - len(free)))]

    def avoided(self, drained: Collection[str], now: float) -> set[str]:
        """The machines of a cluster that get no work now: they cannot, they refused, or a person drained them."""
        return {
            machine.id
            for machine in machines_of(self.place)
            if machine.problem
            or f"{self.name}/{machine.name}" in drained
            or (machine.id in self.left_out and now < self.left_out[machine.id].until)
        }

    def is_drained(self, drained: Collection[str]) -> bool:
        """Whether a person drained the place, or whatever machine of a cluster could still work."""
        machines = machines_of(self.place)
        return self.name in drained or (bool(machines) and not self.has_others(drained, FAR_FUTURE))

    def leave_out(self, id: str, error: MachineRefused | PlaceBroken, now: float) -> MachineLeftOut:
        """Give a machine of a cluster no work, for a while if what it lacks may come; what to say about it."""
        lasts = isinstance(error, PlaceBroken) or error.lasting
        self.left_out[id] = AvoidedUntil(error.message, math.inf if lasts else now + LEFT_OUT_FOR)
        duration = "in this run" if lasts else f"for {LEFT_OUT_FOR:g}s"
        what = f"`{self.name}/{self.member_name(id)}` gets no work {duration}: {error.message}"
        return MachineLeftOut(what, error.hint)

    def is_gone(self, id: str) -> bool:
        """Whether a machine of a cluster gets no more work in this run."""
        return id in self.left_out and self.left_out[id].until == math.inf

    def has_others(self, drained: Collection[str], now: float) -> bool:
        """Whether a machine of the cluster can take work then."""
        return len(self.avoided(drained, now)) < len(machines_of(self.place))

    def member_name(self, id: str) -> str:
        """What people call a machine of a cluster."""
        return next((machine.name for machine in machines_of(self.place) if machine.id == id), id)

    def machine_states(self) -> tuple[MachineState, ...]:
        return tuple(
            MachineState(
                name=machine.name,
                slots=machine.slots,
                why=machine.problem or (self.left_out[machine.id].why if machine.id in self.left_out else ""),
            )
            for machine in machines_of(self.place)
        )
