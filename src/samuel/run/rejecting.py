"""Carrying out what a person rejected while a run is under way, between attempts."""

from __future__ import annotations

from samuel.attempt.run_files import private_directory
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.history.notices import RunSteered
from samuel.history.run_state import RunState
from samuel.run.ledger import TaskLedger
from samuel.run.run_steering import RunSteering
from samuel.tasks.origin import OriginFile
from samuel.workspaces.lanes.lane_workspace import LaneWorkspace
from samuel.workspaces.own_tree import OwnTree
from samuel.workspaces.rejected_work import REJECTIONS, RejectedWork, TakenBack, branch_of, rejected_words


def take_back_rejected(
    place: Workplace,
    state: RunState,
    steering: RunSteering,
    ledger: TaskLedger,
    own: OwnTree,
    lanes: LaneWorkspace | None,
) -> None:
    """Take back the work on rejected tasks, and make these pending. Idempotent: a killed run does it again.

    The work tree and the tip of the branch are looked at before the next attempt, which takes in the commit like
    one that a person made.
    """
    for rejection in steering.rejections:
        directory = private_directory(place)
        origins = OriginFile(directory, place.disk)
        work = RejectedWork(place.git, directory / REJECTIONS, origins, state.run.run_id, branch_of(state.run))
        try:
            taken = work.take_back(rejection)
        except SamuelError as error:
            taken = TakenBack(problems=(f"the work on task `{rejection.task}` stays: {error.message}",))
        if taken.commit:
            own.files.checks.forget_verified()
            if lanes is not None:
                lanes.taken_back(rejection.task)
        ledger.reject(rejection)
        for problem in taken.problems:
            place.warn(problem)
        place.watch(RunSteered(rejected_words(rejection, taken)))
        steering.strike(rejection)
