"""The pool of processes that are kept for later calls, with records in the place of processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from samuel.base.clock import FakeClock
from samuel.runtimes.warm_pool import IDLE_SECONDS, MOST, USUAL, AllBusy, WarmPool


class Process:
    def __init__(self) -> None:
        self.closed = False
        self.usable = True

    def is_usable(self) -> bool:
        return self.usable

    def close(self) -> None:
        self.closed = True


def test_a_process_is_used_again_and_that_of_another_owner_is_not() -> None:
    pool: WarmPool[Process] = WarmPool()
    first = pool.take("a", Process, wait=0)
    pool.give_back("a", first)
    assert pool.take("b", Process, wait=0) is not first
    assert pool.take("a", Process, wait=0) is first


def test_a_process_that_is_not_usable_any_more_is_closed_and_replaced() -> None:
    pool: WarmPool[Process] = WarmPool()
    first = pool.take("a", Process, wait=0)
    first.usable = False
    pool.give_back("a", first)
    assert pool.take("a", Process, wait=0) is not first
    assert first.closed


def test_a_call_gets_the_process_that_becomes_idle() -> None:
    pool: WarmPool[Process] = WarmPool()
    busy = [pool.take("a", Process, wait=0.001) for _ in range(MOST)]  # so that no new one can be started
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(pool.take, "a", Process, 60)
        pool.give_back("a", busy[3])
        assert waiting.result() is busy[3]


def test_calls_that_hang_hold_up_nobody_until_there_are_too_many() -> None:
    pool: WarmPool[Process] = WarmPool()
    with ThreadPoolExecutor(MOST) as threads:
        hanging = list(threads.map(lambda _: pool.take("a", Process, wait=60), range(MOST)))
    assert len(set(map(id, hanging))) == MOST
    with pytest.raises(AllBusy):
        pool.take("a", Process, wait=0.01)
    pool.take("b", Process, wait=0)
    pool.give_back("a", hanging[0])
    assert pool.take("a", Process, wait=0) is hanging[0]


def test_a_caller_that_does_not_wait_gets_no_more_than_the_usual_number() -> None:
    pool: WarmPool[Process] = WarmPool()
    for _ in range(USUAL):
        pool.take("a", Process, wait=0)
    with pytest.raises(AllBusy):
        pool.take("a", Process, wait=0)


def test_a_start_that_fails_does_not_count() -> None:
    pool: WarmPool[Process] = WarmPool()

    def fail() -> Process:
        raise ZeroDivisionError

    for _ in range(MOST + 1):
        with pytest.raises(ZeroDivisionError):
            pool.take("a", fail, wait=0)
    assert pool.take("a", Process, wait=0)


def test_processes_that_were_not_needed_for_long_are_ended_by_a_call_of_any_owner() -> None:
    clock = FakeClock()
    pool: WarmPool[Process] = WarmPool(clock.monotonic)
    first, second = pool.take("a", Process, wait=0), pool.take("a", Process, wait=0)
    pool.give_back("a", first)
    pool.give_back("a", second)
    clock.advance(IDLE_SECONDS + 1)
    pool.take("b", Process, wait=0)
    assert (first.closed, second.closed) == (True, False)  # the last one stays
    assert pool._count == {"a": 1, "b": 1}


def test_a_closed_pool_keeps_no_process() -> None:
    pool: WarmPool[Process] = WarmPool()
    idle, busy = pool.take("a", Process, wait=0), pool.take("a", Process, wait=0)
    pool.give_back("a", idle)
    assert pool.close() == [idle]
    pool.give_back("a", busy)
    assert busy.closed
    assert pool.close() == []
    assert pool._count == {}
