"""Observers in the background of a run: they hold up nothing, are reported, and end with the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.events.endings import ExitReason
from samuel.history.notices import IterationFailed, LoopWarning
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


WAITS = "while [ ! -e agent-works ]; do sleep 0.02; done"


def agent_beside_the_observer(loop: LoopProject, works: str = "") -> None:
    """The agent of the second task lets the observer of the first iteration write while it works."""
    meanwhile = "touch agent-works; while [ ! -e hook-wrote ]; do sleep 0.02; done"
    loop.agent(f"if [ -e first ]; then {meanwhile}; fi\ntouch first\n{works}\n{GOOD}")
    loop.tasks("1", "2")


def failures(loop: LoopProject) -> set[str]:
    return {report.why for report in loop.reports if isinstance(report, IterationFailed)}


@pytest.mark.parametrize("background", [True, False], ids=["in the background", "between two attempts"])
def test_agent_is_not_blamed_for_what_a_hook_writes_beside_the_rules(loop: LoopProject, background: bool) -> None:
    wait = f"{WAITS}; " if background else ""
    observer(loop, "one", "after:iteration", f"{wait}echo x > .samuel/notes.txt; touch hook-wrote")
    if not background:
        yaml = loop.root / ".system/hooks/one.yaml"
        yaml.write_text(yaml.read_text().replace("background: true\n", ""))
    agent_beside_the_observer(loop)
    loop.run()
    assert failures(loop) == {
        "`.samuel/notes.txt` changed during the run, whose rules must stay the same; put back what changed, or "
        "start a new run; a hook keeps files of its own in `plugin.data_dir`"
    }


def test_hook_in_the_background_may_write_into_its_data_directory_while_an_agent_works(loop: LoopProject) -> None:
    data = ".samuel/run/plugins/one"
    observer(loop, "one", "after:iteration", f"{WAITS}; mkdir -p {data}; echo x > {data}/notes; touch hook-wrote")
    agent_beside_the_observer(loop)
    assert loop.run().exit_reason == ExitReason.QUEUE_EMPTY
    assert loop.statuses() == {"1": "completed", "2": "completed"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sed -i s/medium/low/g .samuel/run/prd.toon", "changed more of the task list than it may"),
        ("git config core.ignorecase true", "changed settings of the repository, which are as before"),
    ],
    ids=["tasks", "repository"],
)
def test_hook_in_the_background_is_named_beside_the_agent_for_a_change_that_either_may_have_made(
    loop: LoopProject, change: str, message: str
) -> None:
    observer(loop, "one", "after:iteration", f"{WAITS}; {change}; touch hook-wrote; sleep 1000")
    agent_beside_the_observer(loop)
    loop.run()
    warnings = [report.text for report in loop.reports if isinstance(report, LoopWarning)]
    assert [text for text in warnings if text.startswith(f"the agent or the background hook `one` {message}")]
    assert not [text for text in warnings if text.startswith("the agent changed")]


def test_agent_is_named_alone_if_no_hook_in_the_background_is_at_work(loop: LoopProject) -> None:
    observer(loop, "one", "after:iteration", "true")
    loop.agent(f"git config core.ignorecase true\n{GOOD}")
    loop.tasks("1")
    loop.run()
    warnings = [report.text for report in loop.reports if isinstance(report, LoopWarning)]
    assert [text for text in warnings if text.startswith("the agent changed settings of the repository")]
