"""Freezes and outages with the limits that runs have by default. Only in the full form: they take minutes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.length import FULL
from tests.places.contract import wait_for
from tests.workspaces.fleet.project import FleetProject

pytestmark = pytest.mark.skipif(not FULL, reason="only in the full form")

WORK = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"'
DEFAULT = ""
LONG = 600  # seconds after which a run that does not end has failed


@contextmanager
def frozen(fleet: FleetProject, name: str, seconds: float) -> Iterator[None]:
    """A machine stands still for so long: its attempt, the agent, and the sshd of its connection."""
    until = time.monotonic() + seconds
    pids = [*fleet.machines.sessions(name), *fleet.machines.processes(name)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
        time.sleep(max(0.0, until - time.monotonic()))
    finally:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                continue


def busy_machine(fleet: FleetProject, *names: str) -> str:
    return next(name for name in names if fleet.machines.attempts(name))


def test_machine_frozen_for_half_a_minute_keeps_its_attempt(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, DEFAULT, machines=("m1",))
    fleet.machines.install("m1")
    fleet.task("1", f"sleep 3; {WORK}")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 1, process)
        assert fleet.machines.sessions("m1")
        with frozen(fleet, "m1", 30):
            pass
        assert process.wait(LONG) == 0, fleet.screen

    fleet.assert_sound(1)
    assert len(fleet.calls()) == 1, "its agent was not started anew"
    assert "no attempt is counted" not in fleet.screen


def test_machine_frozen_for_two_minutes_is_lost_and_what_it_does_then_lands_nothing(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, DEFAULT, machines=("m1", "m2"))
    fleet.machines.install("m1", "m2")
    thawed = fleet.outside / "thawed"
    # The first agent is nearly done when its machine freezes. The second task keeps the run alive until then.
    fleet.task("1", f"if [ ! -e {fleet.outside}/frozen ]; then sleep 2; echo late > late.txt; fi; {WORK}")
    fleet.task("2", f"while [ ! -e {thawed} ]; do sleep 0.1; done; sleep 10; {WORK}")
    with fleet.running(*fleet.places(slots=2, names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: any(call.task == "1" for call in fleet.calls()), process)
        (fleet.outside / "frozen").touch()
        with frozen(fleet, "m1", 120):
            fleet.wait_for(lambda: "nothing was heard from `ssh:m1` for 60s" in fleet.screen, process)
        thawed.touch()
        assert process.wait(LONG) == 0, fleet.screen
    wait_for(lambda: fleet.machines.attempts("m1") == [])

    fleet.assert_sound(2)
    assert sorted(fleet.landed()) == ["1", "2"]
    assert "late.txt" not in fleet.git("ls-tree", "-r", "--name-only", "main").split()
    assert fleet.row("1")["attempts"] == 0, "no task is to blame"


def test_machine_frozen_for_two_minutes_leaves_its_task_to_another_one(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, DEFAULT, machines=("m1", "m2"))
    fleet.machines.install("m1", "m2")
    fleet.task("1", f"test -e {fleet.outside}/frozen || sleep 2; {WORK}")
    with fleet.running(*fleet.places(names=("m1", "m2")), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 1, process)
        first = busy_machine(fleet, "m1", "m2")
        (fleet.outside / "frozen").touch()
        with frozen(fleet, first, 120):
            assert process.wait(LONG) == 0, fleet.screen
            fleet.assert_sound(1)
    wait_for(lambda: fleet.machines.attempts(first) == [])

    assert len(fleet.calls()) == 2
    assert fleet.landed() == ["1"]


@pytest.mark.parametrize("when", ["at the end", "at the beginning"])
def test_remote_that_is_away_for_half_a_minute_loses_nothing(fleet: FleetProject, when: str) -> None:
    fleet.prepare_fleet(2, DEFAULT, machines=("m1",))
    away = fleet.bare.with_name("away.git")
    if when == "at the end":
        fleet.task("1", f"mv {fleet.bare} {away}; {WORK}")
    else:  # while the work on the first task lands, and the second one is handed out
        fleet.task("1", f"{WORK}; (sleep 4; mv {fleet.bare} {away}) > /dev/null 2>&1 & sleep 5")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(away.exists, process)
        time.sleep(30)
        away.rename(fleet.bare)
        assert process.wait(LONG) == 0, fleet.screen

    fleet.assert_sound(2)
    assert len(fleet.calls()) == 2, "no agent was paid twice"
