"""The lanes of a run: the project opened once more for each, with the configuration and agreements of the run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from samuel.app.options import AppLane, Machine, Overrides
from samuel.app.run_steps import steps_of
from samuel.attempt.stop import Stop
from samuel.attempt.turn.tool_hooks import ACCEPT_ALL
from samuel.base.errors import UsageError
from samuel.config.model import FleetSettings
from samuel.config.place_spec import PlaceSpec
from samuel.dispatch.record import CombinedSink
from samuel.files.atomic import SCRATCH
from samuel.history.notices import Watch
from samuel.places.place import Place
from samuel.workspaces.fleet.options import FleetOptions
from samuel.workspaces.lanes.lane import LaneTools
from samuel.workspaces.lanes.lane_workspace import LaneOptions
from samuel.workspaces.lanes.listing import lanes_directory

if TYPE_CHECKING:
    from samuel.app.project import App


def lane_options(app: App, stop: Stop, places: Sequence[PlaceSpec], *, timings: bool) -> LaneOptions:
    """The lanes of this machine, and the machines beside it."""
    directory = lanes_directory(app.user, app.paths.root, app.state)
    sinks = [CombinedSink(*app.own_sinks, lock=threading.Lock())]  # which the lanes share
    settings = app.config.chosen(app.methodology)
    # Work that lands is a commit, also where a run in the user's own tree would make none.
    committing = msgspec.structs.replace(settings, commit=True)
    config = msgspec.structs.replace(
        app.config, methodology={**app.config.methodology, app.methodology: committing}
    )

    def open_lane(number: int, root: Path, watch: Watch) -> LaneTools:
        opened = type(app)(
            root,
            search=False,
            handlers=app.embedded_handlers,
            sinks=sinks,
            warn=app.warn,
            watch=watch,
            overrides=Overrides(
                config=config,
                methodology=app.methodology,
                environment=app.environment,
                trust_everything=app.trust_stamp == "everything",
            ),
            machine=Machine(user=app.user, clock=app.clock, disk=SCRATCH),
            lane=AppLane(number=number, journal=app.journal, early_ends=app.workplace.early_ends),
        )
        return LaneTools(opened.workplace, steps_of(opened, stop, timings=timings), opened.close)

    lanes = sum(spec.slots for spec in places if spec.kind == "local")
    others = tuple(spec for spec in places if spec.kind != "local")
    if not others:
        return LaneOptions(lanes, directory, open_lane, settings.branch)
    fleet = fleet_options(app, others, timings=timings)
    return LaneOptions(lanes, directory, open_lane, settings.branch, fleet, tuple(map(str, places)))


def fleet_options(app: App, specs: Sequence[PlaceSpec], *, timings: bool) -> FleetOptions:
    """The machines beside this one."""
    directory = lanes_directory(app.user, app.paths.root, app.state)
    return FleetOptions(
        tuple(specs),
        app.config.fleet,
        open_place,
        directory.with_name(f"{directory.name}-transfers"),
        app.environment,
        timings,
        any(agent.unguarded == ACCEPT_ALL for agent in app.config.agents.values()),
    )


def open_place(spec: PlaceSpec, settings: FleetSettings) -> Place:
    """The place that a user named. Raises SamuelError if it cannot be used from here."""
    if spec.kind == "ssh":
        from samuel.places.ssh import SshPlace  # each kind is imported only where it is used

        return SshPlace(spec, settings.program, settings.silence)
    if spec.kind == "ray":
        from samuel.places.ray import open_ray_place  # most runs use no cluster

        return open_ray_place(spec.address, settings.program, settings.silence)
    raise UsageError(f"`{spec}` is not a place on another machine", "name one as `ssh:HOST:SLOTS`")
