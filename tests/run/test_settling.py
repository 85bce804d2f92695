"""What a result of a lane means for what the run counts and remembers."""

from __future__ import annotations

from samuel.events.endings import IterationOutcome
from samuel.history.run import AttemptResult, AttemptUnderWay, LanesState, Run, Settlement
from samuel.history.tree_state import KeptAttempt, TreeState
from samuel.run.settling import counted, settled_in_lane


def test_a_discovery_in_a_lane_says_nothing_about_the_task_whose_turn_it_was() -> None:
    tree = TreeState(attempts={"1": KeptAttempt("tree", "base", "refs/x")})
    settlement = Settlement(IterationOutcome.COMPLETED, failed=False, new_tasks=1)
    record = AttemptUnderWay(
        iteration=6,
        task="1",
        attempt=2,
        agent="mine",
        started_at=0,
        lane=1,
        tree=tree,
        result=AttemptResult(settlement=settlement, mode="discovery"),
    )
    lanes = LanesState(count=2, branch="main", start="a", tip="a", conflicts={"1": 2})
    run = Run(
        run_id="r",
        methodology="m",
        agent="mine",
        started_at=0,
        max_iterations=9,
        lanes=lanes,
        tree=tree,
        active={"1": record},
    )
    after = counted(run, [settled_in_lane(record)])
    assert (after.tree, after.lanes) == (tree, lanes)
    assert after.active == {}
