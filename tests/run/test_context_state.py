"""`State` of the PromptContext at each event of a run: what every handler can read about the task at hand."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.events import LoopEvent, names
from samuel.testing import Recorder

from .conftest import GOOD, LoopProject

OF_THE_TASK = ("TaskId", "Attempt", "LastFailure")
IN_AN_ITERATION = tuple(
    name
    for name in names.LOOP
    if name not in (names.BEFORE_LOOP, names.AFTER_LOOP, names.BEFORE_LAND, names.AFTER_LAND)
)
FAILS_ONCE = GOOD + 'if [ "$SAMUEL_ATTEMPT" = 2 ]; then rm -f wrong; else touch wrong; fi\n'


def states(recorder: Recorder) -> list[tuple[str, int, dict[str, Any]]]:
    """Of each event: its name, its iteration and its State."""
    return [
        (event.__struct_config__.tag, event.iteration, event.context["State"])
        for event in recorder.begun
        if isinstance(event, LoopEvent)
    ]


@pytest.fixture
def twice(loop: LoopProject) -> list[tuple[str, int, dict[str, Any]]]:
    """The events of a run whose only task fails once."""
    loop.configure('quality_checks = ["test ! -f wrong"]')
    loop.tasks("7")
    loop.agent(FAILS_ONCE)
    recorder = Recorder()
    loop.run(sinks=[recorder])
    return states(recorder)


def test_each_event_of_an_iteration_knows_task_attempt_and_last_failure(
    twice: list[tuple[str, int, dict[str, Any]]],
) -> None:
    failure = "quality_failed: `test ! -f wrong` ended with exit code 1"
    expected = {1: ("7", 1, ""), 2: ("7", 2, failure)}
    for iteration, task_facts in expected.items():
        facts = {
            name: tuple(state[key] for key in OF_THE_TASK) for name, number, state in twice if number == iteration
        }
        assert facts.keys() - {names.AFTER_LOOP} == {*IN_AN_ITERATION}
        for name in IN_AN_ITERATION:
            assert facts[name] == task_facts, (iteration, name)


def test_no_task_is_named_outside_of_an_iteration(twice: list[tuple[str, int, dict[str, Any]]]) -> None:
    for name, _, state in (twice[0], twice[-1]):
        assert name in (names.BEFORE_LOOP, names.AFTER_LOOP)
        assert [state[key] for key in (*OF_THE_TASK, "Snapshot", "Task")] == ["", 0, "", "", ""], name


def test_each_context_is_there_for_all_events_after_the_one_that_made_it(
    twice: list[tuple[str, int, dict[str, Any]]],
) -> None:
    made_by = {"Snapshot": names.CONTEXT_SNAPSHOT, "Progress": names.CONTEXT_PROGRESS, "Task": names.CONTEXT_TASK}
    events = [(name, state) for name, number, state in twice if number == 2]
    order = [name for name, _ in events]
    for key, maker in made_by.items():
        for at, (name, state) in enumerate(events):
            until_settled = order.index(maker) < at < order.index(names.AFTER_ITERATION)
            assert bool(state[key]) is until_settled, (key, name)


def test_a_discovery_has_no_task_in_its_state(loop: LoopProject) -> None:
    loop.configure("", "[methodology.ralph.pilot]\nenabled = true")
    loop.tasks("7")
    loop.agent("true\n")
    recorder = Recorder()
    loop.run(1, sinks=[recorder])
    facts = {name: tuple(state[key] for key in OF_THE_TASK) for name, _, state in states(recorder)}
    assert facts[names.ITERATION_GATE] == ("7", 1, "")  # which decides whether it is worked on
    assert {facts[name] for name in (names.CONTEXT_TASK, names.AGENT_INVOKE, names.AFTER_ITERATION)} == {
        ("", 0, "")
    }
