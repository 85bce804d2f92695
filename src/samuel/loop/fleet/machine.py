"""A place of a run, and what came of giving it work."""

from __future__ import annotations

from samuel.config.place_spec import PlaceSpec
from samuel.loop.run import PlaceState
from samuel.places.place import Place


class FleetMachine:
    """One place, and what came of giving it work."""

    def __init__(self, spec: PlaceSpec, place: Place, lanes: tuple[int, ...]) -> None:
        self.spec = spec
        self.place = place
        self.state = PlaceState(lanes=lanes)
        self.troubles = 0  # in a row
        self.troubled_at = 0.0  # what began before the last trouble is lost by the same one
        self.is_busy_checking = False

    @property
    def name(self) -> str:
        return self.place.name
