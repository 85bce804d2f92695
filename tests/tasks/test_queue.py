"""Which task is next: dependencies, then urgency, then the id as a person reads it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import UsageError
from samuel.tasks.queue import MET, next_task, remaining, stuck
from samuel.tasks.task import PRIORITIES, STATUSES, Task, find, natural


def task(id: str, status: str = "pending", *depends_on: str, priority: str = "medium", why: str = "") -> Task:
    return Task(id=id, title=id, status=status, priority=priority, depends_on=depends_on, last_failure=why)  # type: ignore[arg-type]


def order(*tasks: Task) -> list[str]:
    """The ids in the order in which they would be worked."""
    left, done = list(tasks), []
    while entry := next_task(left):
        done.append(entry.id)
        left[left.index(entry)] = task(entry.id, "completed")
    return done


def test_ids_sort_by_their_numbers_and_not_by_their_digits() -> None:
    ids = ["1", "1.2", "1.10", "2", "2.1.1", "2.1.10", "10", "T2", "T10", "T010a", "T10b"]
    assert sorted({*ids}, key=natural) == ids
    assert order(*(task(id) for id in ["10", "1.10", "2", "1.2"])) == ["1.2", "1.10", "2", "10"]
    natural("9" * 10_000)  # an id may be anything


def test_dependencies_come_before_urgency_and_urgency_before_the_id() -> None:
    tasks = [
        task("1", priority="low"),
        task("2"),
        task("3", "pending", "1", priority="critical"),
        task("4", priority="high"),
    ]
    assert order(*tasks) == ["4", "2", "1", "3"]
    assert order(*(task(entry, priority=entry) for entry in sorted(PRIORITIES))) == list(PRIORITIES)


def test_completed_and_skipped_hold_nobody_up() -> None:
    for status in STATUSES:
        first = task("1", status)
        picked = next_task([first, task("2", "pending", "1")])
        assert (picked is not None and picked.id == "2") == (status in MET)


def test_what_was_begun_goes_first() -> None:
    assert order(task("1", priority="critical"), task("2", "in_progress")) == ["2", "1"]


def test_remaining_tasks_are_pending_or_in_progress() -> None:
    assert [entry.id for entry in remaining([task(status, status) for status in STATUSES])] == [
        "pending",
        "in_progress",
    ]


def test_stuck_names_blocked_tasks_and_unmet_dependencies() -> None:
    assert stuck([]) == ""
    assert stuck([task("1"), task("2", "blocked")]) == ""
    assert stuck([task("1", "completed"), task("2", "skipped")]) == ""
    assert stuck(
        [task("2", "blocked", why="no key"), task("3", "pending", "2"), task("4", "pending", "3", "2")]
    ) == ("`2` is blocked: no key; `3` waits for `2` (blocked); `4` waits for `3` (pending), `2` (blocked)")


@given(st.lists(st.tuples(st.sampled_from(STATUSES), st.sets(st.integers(0, 8))), max_size=9))
def test_never_stuck_without_a_reason(spec: list[tuple[str, set[int]]]) -> None:
    tasks = [task(str(i), status, *(str(j) for j in deps if j < i)) for i, (status, deps) in enumerate(spec)]
    picked = next_task(tasks)
    over = all(entry.status in MET for entry in tasks)
    assert (picked is not None) + bool(stuck(tasks)) + over == 1
    if picked:
        assert all(find(tasks, id).status in MET for id in picked.depends_on)


@given(st.permutations([task(id, priority=p) for id, p in itertools.product("123", ("high", "low"))][:5]))
def test_the_order_of_the_rows_does_not_matter(tasks: list[Task]) -> None:
    picked = next_task([Task(id=f"{n.id}.{n.priority}", title="", priority=n.priority) for n in tasks])
    assert picked is not None
    assert picked.id == "1.high"


def test_an_unknown_id_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"did you mean `1\.10`"):
        find([task("1.10"), task("T3")], "1.11")
    with pytest.raises(UsageError, match="samuel run tasks"):
        find([], "1")
