"""Removing what earlier runs left on machines and on the remote, as far as this repository has all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from samuel.base.errors import SamuelError
from samuel.config.place_spec import PlaceSpec
from samuel.git.git import Git
from samuel.history.history import History
from samuel.history.run_file import RunFile, no_run
from samuel.machines.fleet_check import code_of, fleet_without_a_run, of_all_places
from samuel.workspaces.fleet.exchange import Exchange
from samuel.workspaces.fleet.fleet import Fleet
from samuel.workspaces.fleet.wire import InventoryLine, PruneRequest

if TYPE_CHECKING:
    from samuel.app.project import App


class PruneAnswer(NamedTuple):
    """What was removed at a place, a machine of a cluster or the remote."""

    place: str
    ok: bool
    code: str = ""
    why: str = ""
    hint: str = ""
    refs: tuple[str, ...] = ()
    """The refs that were removed."""
    lanes: tuple[str, ...] = ()
    """The lanes that were removed."""
    left: tuple[str, ...] = ()
    """The refs and lanes that stay, because no ref of this repository has their files."""


class HeldContents(NamedTuple):
    """What the refs of a repository hold."""

    commits: frozenset[str]
    trees: frozenset[str]


def prune_places(app: App, specs: Sequence[PlaceSpec], agent: str) -> list[PruneAnswer]:
    """Remove what runs of this project left that are over. Raises Locked while a run is under way."""
    with no_run(app.state, app.workplace.record, "samuel fleet prune"):
        return _prune(app, specs, agent)


def _prune(app: App, specs: Sequence[PlaceSpec], agent: str) -> list[PruneAnswer]:
    runs = finished_runs(app)
    contents = contents_of(app.workplace.git)

    def choose(inventory: InventoryLine) -> PruneRequest:
        return PruneRequest(
            runs=runs,
            refs={ref.name: ref.commit for ref in inventory.refs if ref.tree in contents.trees},
            lanes={lane.path: lane.tree for lane in inventory.lanes if lane.tree in contents.trees},
        )

    def answers(fleet: Fleet, name: str) -> list[PruneAnswer]:
        if why := fleet.problem(name):
            return [PruneAnswer(name, False, "place", why)]
        each = fleet.prune_each(name, runs, choose)
        return [_answer(fleet.machine_name(name, member), line) for member, line in each]

    with fleet_without_a_run(app, specs, agent) as (fleet, _):
        of_places = of_all_places(fleet, lambda name: answers(fleet, name))
        return [*of_places, _pruned_remote(fleet.exchange, runs, contents)]


def finished_runs(app: App) -> tuple[str, ...]:
    """The runs that this project remembers, without one that can be resumed."""
    run = RunFile(app.state, app.workplace.record).load()
    under_way = run.run_id if run is not None and not run.over else ""
    history = History.of(app.state, app.workplace.record)
    return tuple(run_id for run_id in history.ids() if run_id != under_way)


def contents_of(git: Git) -> HeldContents:
    lines = git.run("log", "--all", "--format=%H %T").decode().splitlines()
    pairs = [line.split() for line in lines]
    return HeldContents(frozenset(commit for commit, _ in pairs), frozenset(tree for _, tree in pairs))


def _answer(name: str, line: InventoryLine | SamuelError) -> PruneAnswer:
    if isinstance(line, SamuelError):
        return PruneAnswer(name, False, code_of(line), line.message, line.hint)
    return PruneAnswer(
        name,
        True,
        refs=tuple(removed for removed in line.removed if removed.startswith("refs/")),
        lanes=tuple(removed for removed in line.removed if not removed.startswith("refs/")),
        left=(*(ref.name for ref in line.refs), *(lane.path for lane in line.lanes)),
    )


def _pruned_remote(exchange: Exchange, runs: tuple[str, ...], contents: HeldContents) -> PruneAnswer:
    """Remove the refs of these runs from the remote whose commits this repository has."""
    name = f"remote {exchange.remote}"
    try:
        removed, left = exchange.prune(runs, lambda commit: commit in contents.commits)
    except SamuelError as error:
        return PruneAnswer(name, False, "remote", error.message, error.hint)
    return PruneAnswer(name, True, refs=removed, left=left)
