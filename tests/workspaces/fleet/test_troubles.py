"""What the coordinator makes of a machine that is lost, and of what one says. Nothing runs on a machine here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.workspaces.fleet.project import FleetProject

from samuel.app.lanes import fleet_options
from samuel.app.options import Machine
from samuel.app.project import App
from samuel.base.paths import User
from samuel.config.place_spec import place_spec
from samuel.events.endings import IterationOutcome
from samuel.history.run import AttemptResult, AttemptUnderWay, LanesState, Run, Settlement
from samuel.history.run_state import RunState
from samuel.history.tree_state import KeptAttempt
from samuel.places.place import PlaceBroken, PlaceLost
from samuel.workspaces.fleet.exchange import RemoteAway
from samuel.workspaces.fleet.fleet import MOST_TROUBLES, Fleet
from samuel.workspaces.fleet.wire import ReadyLine, ResultLine

PLACE = "ssh:m1"


@pytest.fixture
def coordinator(fleet: FleetProject, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """The machines of a run that has begun nothing: one place with eight slots."""
    fleet.prepare_fleet(1, machines=())
    for name, value in fleet.env.items():
        monkeypatch.setenv(name, value)
    head = fleet.git("rev-parse", "HEAD").strip()
    with App(fleet.root, search=False, machine=Machine(user=User.from_environment())) as app:
        run = Run(
            run_id="run-1",
            methodology=app.methodology,
            agent="mine",
            agents=["mine"],
            started_at=app.clock.now(),
            max_iterations=1,
            lanes=LanesState(count=8, branch="main", start=head, tip=head),
        )
        options = fleet_options(app, [place_spec(f"{PLACE}:8")], timings=False)
        machines = Fleet(app.workplace, RunState(lambda run: run, run), options, 1, lambda lane, report: None)
        yield machines
        machines.close()


def test_one_outage_is_one_trouble_however_many_attempts_it_ends(coordinator: Fleet) -> None:
    for _ in range(MOST_TROUBLES + 1):
        coordinator.trouble(PLACE, PlaceLost("gone"), began=1.0)
    assert coordinator.problem(PLACE) == ""

    for _ in range(MOST_TROUBLES):  # each began after the one before
        coordinator.trouble(PLACE, PlaceLost("gone again"), began=float("inf"))
    assert coordinator.problem(PLACE) == "gone again"


def test_place_that_gets_no_more_work_stays_so_when_another_slot_ends(coordinator: Fleet) -> None:
    coordinator.trouble(PLACE, PlaceBroken("no such program"), began=1.0)

    coordinator.worked(PLACE)
    coordinator.trouble(PLACE, PlaceLost("gone"), began=float("inf"))

    assert coordinator.problem(PLACE) == "no such program"
    assert "no such program" in coordinator.why_none()


def test_remote_that_never_worked_is_given_up(coordinator: Fleet) -> None:
    for _ in range(MOST_TROUBLES):
        coordinator.trouble(PLACE, RemoteAway("no route"))
    assert coordinator.problem(PLACE) == "no route"


@pytest.mark.slow
def test_remote_that_worked_is_waited_for(coordinator: Fleet) -> None:
    coordinator.checked(PLACE, ReadyLine("m1", "1", "/clone"))
    for _ in range(MOST_TROUBLES):
        coordinator.trouble(PLACE, RemoteAway("no route"))
    assert coordinator.problem(PLACE) == ""

    for _ in range(MOST_TROUBLES):
        coordinator.trouble(PLACE, RemoteAway("you may not push", passes=False))
    assert coordinator.problem(PLACE) == "you may not push"


@pytest.mark.parametrize("ref", ["refs/heads/private", ""], ids=["of the person", "none"])
def test_what_a_failed_attempt_left_is_not_taken_as_the_machine_names_it(
    fleet: FleetProject, coordinator: Fleet, ref: str
) -> None:
    base = fleet.git("rev-parse", "HEAD").strip()
    fleet.write("half.txt", "half\n")
    fleet.git("add", "half.txt")
    fleet.git("commit", "-q", "-m", "half")
    fleet.git("push", "-q", str(fleet.bare), "HEAD:refs/samuel/run-1/kept/1/1-1")
    tree, tree_before = (fleet.git("rev-parse", f"{name}^{{tree}}").strip() for name in ("HEAD", base))
    fleet.write("secret.txt", "secret\n")
    fleet.git("add", "secret.txt")
    fleet.git("commit", "-q", "-m", "secret")
    fleet.git("branch", "private")
    private = fleet.git("rev-parse", "private^{tree}").strip()
    line = ResultLine(
        run_id="run-1",
        task="1",
        attempt=1,
        iteration=1,
        machine="m1",
        result=AttemptResult(settlement=Settlement(IterationOutcome.QUALITY_FAILED, failed=True, task_id="1")),
        last=KeptAttempt(private, private, ref),
    )
    record = AttemptUnderWay(
        lane=1, iteration=1, task="1", attempt=1, agent="mine", base=base, started_at=1.0, place=PLACE
    )

    last = coordinator.exchange.take(line, record).last

    if ref:
        assert last == KeptAttempt(tree, tree_before, "refs/samuel/run-1/1/1")
        assert fleet.git("rev-parse", f"{last.ref}^{{tree}}").strip() == tree
    else:
        assert last == KeptAttempt(tree_before, tree_before)
