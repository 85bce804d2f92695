"""The kinds of places, and how each is opened."""

from __future__ import annotations

from samuel.base.errors import UsageError
from samuel.config.model import FleetSettings
from samuel.config.place_spec import PlaceSpec
from samuel.places.place import Place


def open_place(spec: PlaceSpec, settings: FleetSettings) -> Place:
    """The place that a user named. Raises SamuelError if it cannot be used from here."""
    if spec.kind == "ssh":
        from samuel.places.ssh import SshPlace  # each kind is imported only where it is used

        return SshPlace(spec, settings.program, settings.silence)
    if spec.kind == "ray":
        from samuel.places.ray import open_ray_place  # most runs use no cluster

        return open_ray_place(spec.address, settings.program, settings.silence)
    raise UsageError(f"`{spec}` is not a place on another machine", "name one as `ssh:HOST:SLOTS`")
