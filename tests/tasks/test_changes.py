"""The changes a task can go through, and who may ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samuel.base.errors import SamuelError, UsageError
from samuel.tasks import changes
from samuel.tasks.rights import Asker, asker
from samuel.tasks.task import STATUSES, Task, find

TASKS = tuple(Task(id=status, title=status, status=status) for status in STATUSES)
AT = "2025-01-15T10:23:45.123Z"

CHANGES: dict[str, tuple[Callable[..., tuple[Task, ...]], dict[str, Any], set[str], str]] = {
    "begin": (changes.begin, {"iteration": 4}, {"pending", "in_progress"}, "in_progress"),
    "claim": (changes.claim, {}, {"in_progress"}, "in_progress"),
    "fail": (changes.fail, {"failure": "no", "max_attempts": 3}, {"in_progress"}, "pending"),
    "complete": (changes.complete, {"at": AT}, {"pending", "in_progress", "blocked", "waiting"}, "completed"),
    "skip": (changes.skip, {"reason": "no"}, {"pending", "in_progress", "blocked", "waiting"}, "skipped"),
    "block": (changes.block, {"reason": "no"}, {"pending", "in_progress", "waiting"}, "blocked"),
    "ask": (changes.ask, {"question": "Which?"}, {"in_progress", "waiting"}, "waiting"),
    "reset": (changes.reset, {}, set(STATUSES), "pending"),
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("name", CHANGES)
def test_change_is_refused_from_a_status_that_does_not_allow_it(name: str, status: str) -> None:
    change, arguments, allowed, becomes = CHANGES[name]
    if status in allowed:
        after = change(TASKS, status, **arguments)
        assert find(after, status).status == becomes
        assert [other for other in after if other.id != status] == [other for other in TASKS if other.id != status]
    else:
        with pytest.raises(SamuelError) as caught:
            change(TASKS, status, **arguments)
        assert f"task `{status}` is {status}, so it cannot be " in caught.value.message
        assert caught.value.exit_code == 1
        assert caught.value.hint


@pytest.mark.parametrize("name", CHANGES)
def test_of_a_task_that_is_not_there(name: str) -> None:
    change, arguments, *_ = CHANGES[name]
    with pytest.raises(UsageError, match="did you mean `blocked`"):
        change(TASKS, "blokced", **arguments)


def test_a_task_that_fails_too_often_is_blocked_and_a_reset_forgets_it() -> None:
    tasks: tuple[Task, ...] = (Task(id="1", title="A"),)
    for attempt in (1, 2, 3):
        tasks = changes.begin(tasks, "1", iteration=attempt)
        tasks = changes.claim(tasks, "1", commit="4f0c2d1")
        assert tasks[0].claimed
        tasks = changes.fail(tasks, "1", failure=f"failure {attempt}", max_attempts=3)
        assert not tasks[0].claimed
    assert (tasks[0].status, tasks[0].attempts, tasks[0].last_failure) == ("blocked", 3, "failure 3")
    (again,) = changes.reset(tasks, "1")
    assert again == Task(id="1", title="A", iteration=3)


def test_a_completed_task_keeps_the_commit_of_its_claim() -> None:
    tasks = changes.claim(TASKS, "in_progress", commit="4f0c2d1")
    done = find(changes.complete(tasks, "in_progress", at=AT), "in_progress")
    assert (done.completed_at, done.commit_sha) == (AT, "4f0c2d1")
    other = find(changes.complete(tasks, "in_progress", at=AT, commit="aaa"), "in_progress")
    assert other.commit_sha == "aaa"


@pytest.mark.parametrize("change", [changes.skip, changes.block])
def test_a_reason_is_needed(change: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="reason is empty"):
        change(TASKS, "pending", reason=" \n")
    assert find(change(TASKS, "pending", reason=" a \udcff "), "pending").last_failure == "a ?"


def test_a_new_task_gets_the_next_number() -> None:
    def new(*ids: str) -> str:
        return changes.enqueue([Task(id=id, title="") for id in ids], "New")[-1].id

    assert new() == "1"
    assert new("1", "2.9", "10.1") == "11"
    assert new("T007") == "8"
    assert new("a", "b") == "1"


def test_enqueue_appends_a_task_with_a_clean_title_and_the_next_id() -> None:
    *before, new = changes.enqueue(
        TASKS, " Do\nit ", priority="low", complexity="simple", depends_on=["pending", "pending"], source="agent"
    )
    assert tuple(before) == TASKS
    assert new == Task(
        id="1", title="Do it", priority="low", complexity="simple", depends_on=("pending",), source="agent"
    )
    with pytest.raises(UsageError, match="did you mean `pending`"):
        changes.enqueue(TASKS, "New", depends_on=["pendin"])
    with pytest.raises(UsageError, match="no title"):
        changes.enqueue(TASKS, "  ")
    with pytest.raises(UsageError, match="did you mean `high`"):
        changes.enqueue(TASKS, "New", priority="hihg")


def test_asker_is_a_person_unless_the_environment_names_a_run() -> None:
    assert asker({"SAMUEL_TASK_ID": "1"}) == Asker("person")
    everything = {"SAMUEL_TASK_ID": "3", "SAMUEL_MODE": "discovery", "SAMUEL_ITERATION": "7"}
    assert asker({"SAMUEL_RUN_ID": "run-1"}) == Asker("agent", "run-1")
    assert asker({"SAMUEL_RUN_ID": "r", "SAMUEL_MAX_NEW_TASKS": "2", **everything}) == Asker(
        "agent", "r", "3", True, 7, 2
    )


def test_an_agent_speaks_of_its_own_task_only() -> None:
    agent = Asker("agent", "run-1", "in_progress")
    claimed = find(agent.done(TASKS, "in_progress", at=AT, commit=""), "in_progress")
    assert (claimed.status, claimed.claimed, claimed.completed_at) == ("in_progress", True, "")
    for refused in (
        lambda: agent.done(TASKS, "pending", at=AT, commit=""),
        lambda: agent.skip(TASKS, "pending", reason="x"),
        lambda: agent.block(TASKS, "no such", reason="x"),
    ):
        with pytest.raises(SamuelError, match="the current task is `in_progress`") as caught:
            refused()
        assert caught.value.exit_code == 1
    assert find(agent.skip(TASKS, "in_progress", reason="x"), "in_progress").status == "skipped"
    assert find(agent.block(TASKS, "in_progress", reason="x"), "in_progress").status == "blocked"
    with pytest.raises(SamuelError, match="cannot reset a task"):
        agent.reset(TASKS, "in_progress")
    with pytest.raises(SamuelError, match="works on no task"):
        Asker("agent", "run-1", discovers=True).done(TASKS, "pending", at=AT, commit="")


def test_discovery_finds_only_so_many() -> None:
    def add(agent: Asker, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        return agent.enqueue(tasks, "New", priority="medium", complexity="medium", depends_on=())

    agent = Asker("agent", "run-1", discovers=True, iteration=5, max_new_tasks=2)
    tasks = add(agent, add(agent, TASKS))
    assert [(task.source, task.iteration) for task in tasks[-2:]] == [("discovery", 5)] * 2
    with pytest.raises(SamuelError, match="2 tasks, which is the limit"):
        add(agent, tasks)
    tasks = add(Asker("agent", "run-1", "pending", iteration=5, max_new_tasks=2), tasks)
    assert (tasks[-1].source, tasks[-1].iteration) == ("agent", 5)
    assert (
        len(add(Asker("agent", "run-1", discovers=True, iteration=10, max_new_tasks=2), tasks)) == len(tasks) + 1
    )
    assert add(Asker("person"), tasks)[-1].source == "user"
