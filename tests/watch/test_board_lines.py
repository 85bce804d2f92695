"""How the board arranges a run, for screens of all sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rich.text import Text

from samuel.display.now.journal_tail import HookCall, HookEvent
from samuel.display.now.model import ActionNow, AttemptNow, BudgetNow, CheckNow, QuestionNow, RunNow, TaskNow
from samuel.history.cost_summary import CostSummary
from samuel.history.holds import Hold
from samuel.report.model import WaitingItem
from samuel.watch.board_lines import BoardState, board_lines, selected_task

NASTY = "\x1b]0;x\x07\x1b[31m[bold]x[/bold]\r\n\x9b31m\u202e"


def task(id: str, **fields: Any) -> TaskNow:
    values = {
        "title": f"Task {id}",
        "status": "pending",
        "word": "pending",
        "tone": "idle",
        "attempts": 0,
        **fields,
    }
    return TaskNow(id=id, **values)


def attempt(task: str, lane: int | None = None, **fields: Any) -> AttemptNow:
    values = {
        "attempt": 1,
        "iteration": 1,
        "agent": "claude",
        "mode": "implementation",
        "started_at": 90.0,
        **fields,
    }
    return AttemptNow(task=task, title=f"Task {task}", state="at work", lane=lane, **values)


def run_now(**fields: Any) -> RunNow:
    values = {"project": "shop", "root": "/shop", "phase": "at work", "run_id": "run-1", **fields}
    return RunNow(at=100.0, **values)


def screen(now: RunNow, width: int = 80, height: int = 24, **state: Any) -> str:
    return "\n".join(text.plain.rstrip() for text in board_lines(now, BoardState(**state), width, height))


FULL = run_now(
    words={"proven": 1, "waiting": 1, "pending": 1},
    tasks=(task("1", word="proven", status="completed", tone="good"), task("2", status="waiting"), task("3")),
    questions=(
        QuestionNow(
            id="q1", task="2", title="", text="Which?", options=("a",), command="samuel run ...", kind="question"
        ),
    ),
    waiting=(WaitingItem(subject="5 Blocked", word="blocked", tone="bad", why="no luck", commands=()),),
    attempts=(
        attempt("1", 1, doing="runs make", actions=(ActionNow(95.0, "reads a.py"), ActionNow(96.0, "runs make"))),
        attempt("3", 2, doing="thinks", check=CheckNow("make", False, "`make`: FAILED", "tail")),
    ),
    holds=(Hold("codex", 160.0, "usage limit"),),
    budgets=(BudgetNow("max_cost_usd", 1.5, 10.0),),
    cost=CostSummary(usd=1.5),
    denials=(
        HookEvent(
            event_id="e1", event="pre:ability.call", at=95.0, subject="runs git push", verdict="denied",
            why="not from here", calls=(HookCall(handler="no_push", outcome="denied", duration_ms=1.0),),
        ),
    ),
)  # fmt: skip


def test_what_needs_a_person_comes_first_and_everything_has_its_place():
    text = screen(FULL)
    parts = ["$1.50 of $10.00", "needs you (2)", "q1 task 2: Which?", "5 Blocked: blocked, no luck", "tasks (3)"]
    parts += [
        ">*1 proven",
        "2 attempts",
        ">[lane 1] 1 Task 1",
        "now: runs make",
        "reads a.py",
        "[lane 2] 3 Task 3",
    ]
    parts += ["hooks, 1 denial", "denied runs git push by no_push: not from here"]
    places = [text.find(part) for part in parts]
    assert -1 not in places, (parts[places.index(-1)], text)
    assert places == sorted(places)
    assert "waits for codex until" in text


def test_the_lane_that_is_chosen_has_its_details_and_its_task_is_selected():
    text = screen(FULL, lane=1)
    assert ">[lane 2] 3 Task 3" in text
    assert "check `make`: FAILED" in text
    assert "now: runs make" not in text
    assert (chosen := selected_task(FULL, BoardState(lane=1))) is not None
    assert chosen.id == "3"


@pytest.mark.parametrize("width", [20, 60, 80, 119, 120, 250])
@pytest.mark.parametrize("height", [1, 3, 5, 15, 24, 70])
def test_every_screen_is_filled_exactly(width, height):
    lines = board_lines(FULL, BoardState(), width, height)
    assert [text.cell_len for text in lines] == [width] * height
    assert "quit" in lines[-1].plain or width < 60


def test_on_a_small_screen_each_part_is_still_there():
    text = screen(FULL, 60, 15)
    assert all(part in text for part in ("q1 task 2", "tasks", ">*1", "lane 1", "q quit"))


def test_no_control_character_and_no_markup_of_others_is_drawn():
    now = run_now(
        project=NASTY, exit_message=NASTY, landing=NASTY, words={NASTY: 1}, problem="",
        tasks=(task(NASTY, title=NASTY, word=NASTY, why=NASTY, attempts=2),),
        questions=(
            QuestionNow(id=NASTY, task=NASTY, title=NASTY, text=NASTY, options=(), command=NASTY, kind="question"),
        ),
        waiting=(WaitingItem(subject=f"s {NASTY}", word=NASTY, tone=NASTY, why=NASTY, commands=()),),
        attempts=(
            attempt(
                NASTY, 1, agent=NASTY, doing=NASTY, actions=(ActionNow(1.0, f"{NASTY}."),),
                check=CheckNow(NASTY, True, NASTY, NASTY), place=NASTY, machine=NASTY,
            ),
        ),
        holds=(Hold(NASTY, 160.0, NASTY),),
        messages=(ActionNow(1.0, NASTY),),
        denials=(
            HookEvent(
                event_id="e", event=NASTY, at=1.0, subject=NASTY, verdict="denied", why=NASTY,
                calls=(HookCall(handler=NASTY, outcome="denied", duration_ms=1.0),),
            ),
        ),
    )  # fmt: skip
    for size in ((80, 24), (160, 50)):
        for text in board_lines(now, BoardState(note=NASTY), *size):
            assert isinstance(text, Text)
            assert text.plain.isprintable(), text.plain
    assert "[bold]x[/bold]" in screen(now)


class _Rows(tuple[TaskNow, ...]):
    """Tasks that notice how many of them are looked at."""

    looked_at = 0

    def __iter__(self) -> Iterator[TaskNow]:
        _Rows.looked_at += len(self)
        return super().__iter__()

    def __getitem__(self, key: Any) -> Any:
        rows = super().__getitem__(key)
        _Rows.looked_at += len(rows) if isinstance(key, slice) else 1
        return rows


def test_of_ten_thousand_tasks_only_those_on_the_screen_are_looked_at():
    now = run_now(tasks=_Rows(task(str(number)) for number in range(10_000)), words={"pending": 10_000})
    _Rows.looked_at = 0
    text = screen(now, task=5_000)
    assert "> 5000 pending" in text
    assert "of 10000" in text
    assert _Rows.looked_at < 30
