"""How a run uses other machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from samuel.config.model import FleetSettings
from samuel.config.place_spec import PlaceSpec
from samuel.places.place import Place


class FleetOptions(NamedTuple):
    """How a run uses other machines."""

    specs: tuple[PlaceSpec, ...]
    settings: FleetSettings
    open_place: Callable[[PlaceSpec, FleetSettings], Place]
    directory: Path
    """Where the coordinator keeps its transfers."""
    environment: str
    timings: bool
    accept_unguarded: bool
