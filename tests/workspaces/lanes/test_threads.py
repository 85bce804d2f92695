"""The threads of a run with lanes: how they end when the run is stopped."""

from __future__ import annotations

from functools import partial

from samuel.process.tree import CallsEnded
from samuel.run.threads import LaneThreads
from samuel.testing import Recorder, SamuelProject
from samuel.workspaces.workspace import AttemptEnded

SLOW = """
import pathlib, time, samuel

@samuel.hook("before:iteration")
def slow(event):
    pathlib.Path("begun").touch()
    time.sleep(1000)
"""


def test_lane_does_not_go_on_after_a_hook_that_the_end_of_the_run_killed(samuel_project: SamuelProject) -> None:
    """The hook could have denied the iteration: the agent must not be started."""
    samuel_project.python_hook("slow", SLOW)
    ended = Recorder("after:loop")
    went_on = []
    with samuel_project.open(handlers=[ended]) as app:
        threads = LaneThreads()

        def attempt() -> AttemptEnded:
            app.fire("before:iteration", task={"id": "1"})
            went_on.append("1")
            return AttemptEnded("1")

        threads.begin("attempt", attempt, partial(AttemptEnded.of_thread, "1"))
        while not (samuel_project.root / "begun").exists():
            assert threads.receive(0.01) is None
        threads.kill()
        message = threads.receive(0)
        app.fire("after:loop", iterations_run=0, exit_reason="interrupted")
    assert message is not None
    assert isinstance(message.error, CallsEnded)
    assert went_on == []
    assert len(ended.events) == 1  # the hooks of the end are called
