"""What a run with lanes does first when the one before it was killed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from samuel.base.errors import SamuelError
from samuel.history.run import LaneRecord
from samuel.run.ledger import TaskLedger
from samuel.run.settling import Settled, with_kept
from samuel.workspaces.fleet.fleet import Fleet
from samuel.workspaces.lanes.branch import Branch
from samuel.workspaces.lanes.lane import Lane
from samuel.workspaces.lanes.run_state import SharedRun


def resume(
    shared: SharedRun, branch: Branch, ledger: TaskLedger, lanes: Mapping[int, Lane], fleet: Fleet | None
) -> None:
    """Carry out what was decided, take over what is ready, and release what came to no decision."""
    state = shared.lanes
    if (landing := state.landing) is not None:
        if branch.finish(landing):
            settled = [
                Settled(record, record.result.settlement, landing.new)
                for task in landing.tasks
                if (record := state.active.get(task)) and record.result
            ]
            tree = branch.refs.facts(landing.new)[0][0]
            shared.set_lanes(branch=landing.branch)
            ledger.settle(settled, tip=landing.new, green=tree)
        else:
            shared.set_lanes(landing=None)
    ledger.announce()
    for record in list(shared.lanes.active.values()):
        if record.result is None and record.place and fleet is not None:
            _take_from_remote(shared, ledger, fleet, record)
        elif record.result is None:
            if record.lane in lanes:
                _keep_what_is_left(shared, lanes[record.lane], record)
            ledger.give_back([record.task])
        elif not record.result.work:
            ledger.settle([Settled(record, record.result.settlement)])
    ledger.release_unknown()


def _take_from_remote(shared: SharedRun, ledger: TaskLedger, fleet: Fleet, record: LaneRecord) -> None:
    """Take over what a machine handed over while no coordinator was there: its agent is not paid again."""
    result = fleet.recovered(record)
    if result is None:
        ledger.give_back([record.task])
        return
    shared.change_active(record.task, result=result)
    if not result.work:
        ledger.settle([Settled(shared.record(record.task), result.settlement)])


def _keep_what_is_left(shared: SharedRun, lane: Lane, record: LaneRecord) -> None:
    """Keep what a killed attempt changed in its lane in a ref."""
    if not record.tree.task:
        return  # its agent had not started
    attempts = lane.attempts(shared.run.run_id, record.tree)
    with suppress(SamuelError):
        attempts.resume()
        attempts.keep(record.task, record.attempt)
        last = attempts.state.attempts.get(record.task)
        shared.update(lambda run: with_kept(run, record.task, last))
