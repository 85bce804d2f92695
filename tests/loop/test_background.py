"""Observers in the background of a run: they hold up nothing, are reported, and end with the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.events.endings import ExitReason
from samuel.journal.reader import newest_first
from samuel.journal.records import CallRecord

from .conftest import GOOD, LoopProject

HOOK = """\
id: {name}
event_type: {event}
background: true
handler: {{kind: script, command: ./scripts/{name}.sh}}
"""


def observer(loop: LoopProject, name: str, event: str, body: str) -> None:
    for path, text in (
        (f".system/hooks/{name}.yaml", HOOK.format(name=name, event=event)),
        (f"scripts/{name}.sh", f"#!/bin/sh\ncat > /dev/null\n{body}\n"),
    ):
        file = loop.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return value


def calls(loop: LoopProject) -> list[CallRecord]:
    records = newest_first(loop.root, loop.root / ".samuel/run/journal")
    return [record for record in records if isinstance(record, CallRecord) and record.background]


@pytest.mark.slow
def test_observers_that_never_end_hold_up_no_iteration_and_end_with_the_run(
    loop: LoopProject, marked: Any
) -> None:
    for name in ("one", "two", "three"):
        observer(loop, name, "after:iteration", "echo $$ >> pids.txt; sleep 1000")
    loop.tasks("1", "2")
    run = loop.run()
    assert run.exit_reason == ExitReason.QUEUE_EMPTY
    assert loop.statuses() == {"1": "completed", "2": "completed"}
    ended = calls(loop)
    assert len(ended) == 6
    assert {(call.event, call.outcome, call.message) for call in ended} == {
        ("after:iteration", "timed_out", "killed: the run that it belonged to has ended")
    }
    assert marked.strays() == []


@pytest.mark.slow
def test_observer_of_the_end_of_the_loop_goes_on_after_the_run(loop: LoopProject, marked: Any) -> None:
    observer(loop, "late", "after:loop", "while [ ! -e go ]; do sleep 0.02; done; touch done")
    loop.tasks("1")
    assert loop.run().exit_reason == ExitReason.QUEUE_EMPTY
    assert not (loop.root / "done").exists()
    (loop.root / "go").touch()
    (call,) = until(lambda: calls(loop), "the call is not in the journal")
    assert (call.event, call.outcome) == ("after:loop", "ok")
    until(lambda: not marked.pids(), "the supervisor was left")


@pytest.mark.slow
def test_observer_that_fails_is_a_warning_in_the_progress_of_the_run(loop: LoopProject, marked: object) -> None:
    observer(loop, "late", "after:agent.invoke", 'echo "no network" >&2; exit 3')
    recorded = """grep -q '"background":true' .samuel/run/journal/*"""
    loop.agent(f'[ "$SAMUEL_ITERATION" = 1 ] || until {recorded}; do sleep 0.05; done\n{GOOD}')
    loop.tasks("1", "2")
    assert loop.run().exit_reason == ExitReason.QUEUE_EMPTY
    line = "[hooks.warning] after:agent.invoke plugin=late hook=late crashed: exit code 3"
    assert line in loop.progress()


def test_observer_in_the_background_has_the_settings_of_its_chain(loop: LoopProject) -> None:
    observer(loop, "late", "after:iteration", "true")
    with loop.open() as app:
        (step,) = (step for step in app.chains["after:iteration"].steps if step.handler.name == "late")
        assert (step.background, step.strict, Path(step.handler.path).name) == (True, False, "late.sh")
