"""What a run does first when the one before it was killed, or was stopped before it had done what was decided."""

from __future__ import annotations

from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from samuel.history.run import AttemptUnderWay
from samuel.history.run_state import RunState
from samuel.run.landing import settle_landed
from samuel.run.ledger import TaskLedger
from samuel.run.settling import Settled, settled_in_lane
from samuel.workspaces.lanes.lane_workspace import LaneWorkspace
from samuel.workspaces.own_tree import OwnTree
from samuel.workspaces.workspace import AttemptWorkspace


def settle(own: OwnTree, ledger: TaskLedger, record: AttemptUnderWay) -> None:
    """Carry out what was decided about a task of which nothing has to land on a branch of its own."""
    assert record.result is not None
    if record.lane is not UNSET:
        ledger.settle([settled_in_lane(record)])
        return
    applied = own.land(record)
    also = partial(replace, tree=own.files.attempts.state)
    ledger.settle([Settled(record, record.result.settlement, applied)], also)


def carry_out(own: OwnTree, ledger: TaskLedger, state: RunState) -> None:
    """Carry out what was decided, and announce what was not announced."""
    for record in state.run.decided:
        if record.result is not None and not record.result.work:
            settle(own, ledger, record)
    ledger.announce()


def recover(workspace: AttemptWorkspace, own: OwnTree, ledger: TaskLedger, state: RunState) -> None:
    """Finish a landing, carry out what was decided, and release what came to no decision."""
    if isinstance(workspace, LaneWorkspace):
        finish_landing(workspace, ledger, state)
    for record in list(state.run.active.values()):
        if record.result is not None:
            continue
        if (result := workspace.recover(record)) is not None:
            state.set_attempt(record.task, result=result)
        else:
            ledger.give_back(record.task)
    carry_out(own, ledger, state)
    ledger.release_unknown()


def finish_landing(workspace: LaneWorkspace, ledger: TaskLedger, state: RunState) -> None:
    """Finish a landing that was cut off."""
    if (landing := state.lanes.landing) is None:
        return
    if not workspace.branch.finish(landing):
        state.set_lanes(landing=None)
        return
    state.set_lanes(branch=landing.branch)
    records = [state.run.active[task] for task in landing.tasks if task in state.run.active]
    workspace.write_receipts(records, landing.new, landing.predicate)
    settle_landed(ledger, records, landing.new, workspace.tree_of(landing.new))
