"""The displays of a run, fed with reports of the loop."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from samuel.cli.run.display import JsonDisplay, LiveDisplay, PlainDisplay, plural
from samuel.events.endings import IterationOutcome
from samuel.loop.reports import (
    CheckEnded,
    DiscoveryChosen,
    HandlerMessage,
    IterationSettled,
    IterationStarted,
    LoopWarning,
    RunStarted,
    StepStarted,
    TaskFileUnreadable,
)
from samuel.tasks.task import Task

TASK = Task(id="1", title="One")
DISCOVERY = IterationStarted(2, 9, "discovery", None)


def picture(display: LiveDisplay) -> list[str]:
    """The lines of the live picture, without the progress bar and the time."""
    text = io.StringIO()
    Console(file=text, width=100).print(display.showing().get_renderable())
    task, step, bar = (line.strip() for line in text.getvalue().splitlines())
    return [task, step, bar.split(" ", 1)[1].rsplit(",", 1)[0].strip()]


def test_the_live_picture_of_a_discovery_has_its_own_number_and_not_the_last_task() -> None:
    display = LiveDisplay()
    for report in (
        RunStarted(("pending",), 9),
        IterationStarted(1, 9, "implementation", TASK),
        StepStarted("quality.check"),
        CheckEnded("make test", True, 1.25),
        IterationSettled("implementation", IterationOutcome.COMPLETED, 0, {}, ("completed",)),
    ):
        display(report)
    assert picture(display) == ["1 One", "quality.check  `make test`: ok (1.2s)", "1/1 task iteration 1/9"]
    display(DISCOVERY)
    display(StepStarted("before:agent.invoke"))
    assert picture(display) == ["looking for tasks", "before:agent.invoke", "1/1 task iteration 2/9"]


def test_the_live_picture_follows_a_gate_that_chooses_discovery() -> None:
    display = LiveDisplay()
    display(IterationStarted(1, 9, "implementation", TASK))
    display(DiscoveryChosen())
    assert picture(display)[0] == "looking for tasks"


def test_a_second_attempt_is_named_in_the_header(capsys: pytest.CaptureFixture[str]) -> None:
    PlainDisplay()(IterationStarted(2, 9, "implementation", Task(id="1", title="One", attempts=1)))
    assert capsys.readouterr().out == "iteration 2/9: 1 One (attempt 2)\n"


def test_the_json_display_prints_nothing_but_that_the_loop_waits(capsys: pytest.CaptureFixture[str]) -> None:
    display = JsonDisplay()
    for report in (DISCOVERY, LoopWarning("a"), LoopWarning("b"), LoopWarning("a"), HandlerMessage("hello")):
        display(report)
    display(TaskFileUnreadable("line 3: not a row"))
    assert list(display.warnings) == ["a", "b"]
    assert tuple(capsys.readouterr()) == ("", "waiting: the task file cannot be read\nline 3: not a row\n")


def test_a_noun_is_plural_unless_there_is_exactly_one() -> None:
    assert [plural(count, "task") for count in (0, 1, 2)] == ["0 tasks", "1 task", "2 tasks"]
