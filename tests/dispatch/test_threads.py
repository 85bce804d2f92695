"""One open project and many threads that fire at once: what a server does."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from samuel.base.clock import SystemClock
from samuel.journal import newest_first
from samuel.process.tree import CallsEnded, end_calls, resume_calls
from samuel.testing import Recorder, SamuelProject

SLOW = """
import pathlib, time, samuel

@samuel.hook("PreAbilityCall")
def slow(event):
    pathlib.Path("begun").touch()
    time.sleep(1000)
"""
THREADS = 48  # more than the dispatcher's own pool has


def test_handlers_that_hang_do_not_hold_up_other_events(samuel_project: SamuelProject) -> None:
    let_go = threading.Event()
    arrived = threading.Semaphore(0)

    def hang(event: Any) -> Any:
        if event.response == "hang":
            arrived.release()
            let_go.wait()
        return {"messages_to_user": [event.response]}

    handlers = [Recorder("TurnEnd", name=f"h{n}", returns=hang) for n in range(3)]
    with samuel_project.open(handlers=handlers) as app, ThreadPoolExecutor(THREADS) as threads:
        hanging = [threads.submit(app.fire, "TurnEnd", response="hang", turn_number=1) for _ in range(THREADS)]
        for _ in range(THREADS):
            arrived.acquire()
        try:
            fired = app.fire("TurnEnd", response="quick", turn_number=2)
        finally:
            let_go.set()
        assert fired.result["messages_to_user"] == ["quick"] * 3
        assert all(future.result().result["messages_to_user"] == ["hang"] * 3 for future in hanging)


def test_each_line_of_the_hooks_log_is_about_its_own_event(samuel_project: SamuelProject) -> None:
    (samuel_project.root / ".system").mkdir()
    together = threading.Barrier(8)

    def echo(event: Any) -> Any:
        together.wait()  # all events have begun, none has ended
        return {"logs": [{"level": "info", "message": event.session_id}]}

    with (
        samuel_project.open(handlers=[Recorder("TurnEnd", name="echo", returns=echo)]) as app,
        ThreadPoolExecutor(8) as threads,
    ):
        list(
            threads.map(
                lambda n: app.fire("TurnEnd", response="x", turn_number=1, session_id=f"s{n}"),
                range(8),
            )
        )
    log = Path(samuel_project.root, ".system/logs/hooks.log").read_text().splitlines()
    lines = [json.loads(line) for line in log]
    assert sorted(line["session_id"] for line in lines) == [f"s{n}" for n in range(8)]
    assert all(line["logs"][0]["message"] == line["session_id"] for line in lines)


def test_the_journal_has_every_record_of_events_fired_by_many_threads(samuel_project: SamuelProject) -> None:
    handler = Recorder("context.extra", name="a", returns=lambda event: {"extras": [], "id": event.task["id"]})
    with samuel_project.open(handlers=[handler], clock=SystemClock()) as app, ThreadPoolExecutor(16) as threads:
        fired = list(threads.map(lambda n: app.fire("context.extra", task={"id": str(n)}), range(400)))
        journal = app.paths.journal
    assert len({outcome.event.event_id for outcome in fired}) == 400
    records = list(newest_first(samuel_project.root, journal))
    assert len(records) == 3 * 400
    payloads = {
        record.event_id: msgspec.json.decode(record.payload) for record in records if hasattr(record, "payload")
    }
    assert {event_id: payload["task"]["id"] for event_id, payload in payloads.items()} == {
        outcome.event.event_id: outcome.result["id"] for outcome in fired
    }


def test_threads_that_need_a_runtime_for_the_first_time_get_the_same(samuel_project: SamuelProject) -> None:
    with samuel_project.open() as app:
        together = threading.Barrier(16)

        def runtime(_: int) -> Any:
            together.wait()
            return app.dispatcher._runtimes["python"]

        with ThreadPoolExecutor(16) as threads:
            assert len(set(map(id, threads.map(runtime, range(16))))) == 1


def test_hook_that_samuel_kills_as_it_ends_has_no_result_and_no_successor(samuel_project: SamuelProject) -> None:
    """As a crash it would be a warning, and it could still have denied."""
    samuel_project.python_hook("slow", SLOW)
    successor = Recorder("PreAbilityCall", name="successor", order=900)
    with (
        samuel_project.open(handlers=[successor], clock=SystemClock()) as app,
        ThreadPoolExecutor(1) as threads,
    ):
        call = threads.submit(app.fire, "PreAbilityCall", ability_id="a")
        while not (samuel_project.root / "begun").exists():
            assert not call.done()
            time.sleep(0.01)
        try:
            end_calls()
            with pytest.raises(CallsEnded):
                call.result()
        finally:
            resume_calls()
        journal = app.paths.journal
    assert successor.events == []
    (record,) = newest_first(samuel_project.root, journal)
    assert hasattr(record, "payload")  # the event, and no verdict that no caller got
