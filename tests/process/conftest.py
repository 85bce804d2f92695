"""Every process that a test starts carries a mark in its environment; afterwards no process may carry it."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from samuel.process.spawn import Finished, run

TEST_MARK = "SAMUEL_TEST_MARK"


def carriers(mark: str) -> list[int]:
    pids = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path("/proc", name, "environ").read_bytes():
                pids.append(int(name))
        except OSError:  # gone meanwhile, or not ours
            continue
    return pids


def my_children() -> set[int]:
    """Zombies too: they have no environment, but they are still on the list."""
    pids: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread that ended meanwhile
            pids.update(int(pid) for pid in file.read_text().split())
    return pids


@pytest.fixture
def env() -> Iterator[dict[str, str]]:
    before = my_children()
    mark = uuid.uuid4().hex
    yield {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", TEST_MARK: mark}
    assert carriers(mark) == []
    assert my_children() - before == set()


@pytest.fixture
def python(env: dict[str, str], tmp_path: Path) -> Callable[..., Finished]:
    """Run a piece of Python as a process: `python(code, timeout=…)`."""

    def start(code: str, *args: str, **options: object) -> Finished:
        options.setdefault("timeout", 120.0)
        return run([sys.executable, "-I", "-S", "-c", code, *args], cwd=str(tmp_path), env=env, **options)  # type: ignore[arg-type]

    return start


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in b"ZX"
    except OSError:
        return False


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    def wait(condition: Callable[[], bool]) -> None:
        until = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < until, "waited 120 s in vain"
            time.sleep(0.005)

    return wait
