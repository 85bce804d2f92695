"""The store: many at once lose nothing, and a crash at any step leaves a whole file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError, SamuelError, UnsafePath
from samuel.tasks import changes
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

AT = "2025-01-15T10:23:45.123Z"


def store_with(directory: Path, count: int) -> TaskStore:
    store = TaskStore(directory)
    store.replace_all(Task(id=str(number), title=f"Task {number}") for number in range(1, count + 1))
    return store


def test_change_returns_the_tasks_that_load_returns_afterwards(tmp_path: Path) -> None:
    store = store_with(tmp_path / "a/run", 3)
    changed = store.change(lambda tasks: changes.complete(tasks, "2", at=AT, commit="1234567"))
    assert changed == store.load()
    assert [task.status for task in changed] == ["pending", "completed", "pending"]
    assert changed[1].commit_sha == "1234567"
    assert sorted(os.listdir(store.directory)) == ["prd.toon", "state.lock"]


def test_nothing_changed_writes_nothing(tmp_path: Path) -> None:
    store = store_with(tmp_path, 2)
    before = store.path.stat()
    assert store.change(lambda tasks: tasks) == store.load()
    assert store.path.stat() == before


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "none"):
        store = TaskStore(directory)
        for use in (store.load, lambda store=store: store.change(lambda tasks: tasks)):
            with pytest.raises(SamuelError, match="samuel run init --prd FILE"):
                use()
    assert os.listdir(tmp_path) == []


def test_a_broken_file_stops_everything_and_stays_as_it_is(tmp_path: Path) -> None:
    store = store_with(tmp_path, 3)
    broken = store.path.read_text().replace("tasks[3]", "tasks[4]").encode() + b"# \xff\n"
    for content in (broken, broken[:-3]):
        store.path.write_bytes(content)
        with pytest.raises(ConfigError) as caught:
            store.change(lambda tasks: changes.complete(tasks, "1", at=AT))
        assert caught.value.problems[0].file == str(store.path)
        assert store.path.read_bytes() == content


def test_a_change_that_does_not_fit_together_is_not_written(tmp_path: Path) -> None:
    store = store_with(tmp_path, 2)
    before = store.path.read_bytes()
    with pytest.raises(ConfigError, match="depends on `9`"):
        store.change(lambda tasks: [*tasks, Task(id="3", title="", depends_on=("9",))])
    with pytest.raises(ConfigError, match="`done` is not a valid status"):
        store.change(lambda tasks: [*tasks, Task(id="3", title="", status="done")])  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        store.change(lambda tasks: [tasks[1 // 0]])
    assert store.path.read_bytes() == before


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    store = store_with(tmp_path / "run", 1)
    elsewhere = tmp_path / "elsewhere"
    store.path.rename(elsewhere)
    store.path.symlink_to(elsewhere)
    with pytest.raises(UnsafePath):
        store.change(lambda tasks: changes.complete(tasks, "1", at=AT))
    assert ",pending," in elsewhere.read_text()


WORKER = """
import sys
from pathlib import Path
from samuel.tasks import changes
from samuel.tasks.store import TaskStore

store = TaskStore(Path(sys.argv[1]))
for id in sys.argv[2:]:
    store.change(lambda tasks: changes.complete(tasks, id, at=f"by {id}"))
    print(id, flush=True)
"""


def worker(directory: Path, ids: range) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(directory), *map(str, ids)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_eight_processes_at_once_lose_none(tmp_path: Path) -> None:
    store = store_with(tmp_path, 200)
    workers = [worker(tmp_path, range(first, 201, 8)) for first in range(1, 9)]
    completed_before = 0
    while any(process.poll() is None for process in workers):
        now = [task.id for task in store.load() if task.status == "completed"]  # whole at every moment
        assert len(now) >= completed_before
        completed_before = len(now)
    for process in workers:
        process.communicate()
        assert process.returncode == 0
    assert {(task.status, task.completed_at) for task in store.load()} == {
        ("completed", f"by {number}") for number in range(1, 201)
    }


@pytest.mark.slow
def test_killed_in_the_middle_nothing_that_was_said_is_lost(tmp_path: Path) -> None:
    store = store_with(tmp_path, 400)
    reported: set[str] = set()
    for attempt in range(6):
        first = int(max(reported, key=int, default="0")) + 1
        process = worker(tmp_path, range(first, 401))
        assert process.stdout is not None
        for _ in range(1 + attempt * 3):
            reported.add(process.stdout.readline().strip())
        time.sleep(0.0007 * attempt)
        process.send_signal(signal.SIGKILL)
        reported.update(process.communicate()[0].split())
        tasks = store.load()
        completed = {task.id for task in tasks if task.status == "completed"}
        assert len(tasks) == 400
        assert reported <= completed
        assert len(completed - reported) <= 1  # written, and killed before it could say so
        reported |= completed


STOPS = """
import os, signal, sys
from pathlib import Path
from samuel.files.atomic import Disk
from samuel.tasks import changes
from samuel.tasks.store import TaskStore


class Stops(Disk):
    def __init__(self, step):
        self.left = step

    def step(self):
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def create(self, name, directory, mode):
        self.step()
        return super().create(name, directory, mode)

    def write(self, fd, data):
        self.step()
        return super().write(fd, data[:400])

    def fsync(self, fd):
        self.step()
        super().fsync(fd)

    def replace(self, old, new, directory):
        self.step()
        super().replace(old, new, directory)


store = TaskStore(Path(sys.argv[1]), disk=Stops(int(sys.argv[2])))
store.change(lambda tasks: changes.complete(tasks, "3", at="then"))
"""  # a disk on which a step kills the process: what is on it then is what a crash leaves


@pytest.mark.slow
def test_killed_between_every_write_fsync_and_rename(tmp_path: Path) -> None:
    before = store_with(tmp_path, 5).load()
    after = changes.complete(before, "3", at="then")
    states = []
    for step in range(100):
        store_with(tmp_path, 5)
        ended = subprocess.run([sys.executable, "-c", STOPS, str(tmp_path), str(step)], check=False)
        tasks = TaskStore(tmp_path).load()
        assert tasks in (before, after)
        states.append(tasks == after)
        # And the next one goes on as if nothing had been.
        again = TaskStore(tmp_path).change(lambda tasks: changes.complete(tasks, "4", at=AT))
        assert [task.status for task in again].count("completed") == 1 + states[-1]
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
    assert states == sorted(states)
    assert states.count(False) == 5  # before: create, write, write, fsync, rename
    assert states.count(True) >= 2  # killed after the rename, and not killed at all
