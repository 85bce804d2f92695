from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from samuel.base.clock import FakeClock
from samuel.base.errors import Locked, UnsafePath
from samuel.files.lock import held

HOLDER = """
import sys
from pathlib import Path
from samuel.files.lock import held
with held(Path(sys.argv[1]), note="samuel run"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock until its input ends, or until it is killed."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_free_lock_is_taken_again_and_again(path: Path) -> None:
    for _ in range(3):
        with held(path):
            pass
    assert path.stat().st_mode & 0o7777 == 0o600


def test_lock_is_freed_when_the_body_raises(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), held(path):
        raise ZeroDivisionError
    with held(path):
        pass


def test_locked_error_names_the_process_that_holds_the_lock(path: Path) -> None:
    with holder(path) as process, pytest.raises(Locked) as refusal, held(path):
        pass
    assert refusal.value.message == f"`{path}` is locked by pid {process.pid} (samuel run)"
    assert refusal.value.hint


def test_a_shorter_note_replaces_a_longer_one_and_stays_on_one_line(path: Path) -> None:
    with held(path, note="a very long note indeed"):
        pass
    with held(path, note="two\nlines"), pytest.raises(Locked) as refusal, held(path):
        pass
    assert refusal.value.message == f"`{path}` is locked by pid {os.getpid()} (two lines)"


def test_lock_is_freed_when_its_process_ends(path: Path) -> None:
    with holder(path) as process:
        assert process.stdin is not None
        process.stdin.close()
        with held(path, wait=5):
            pass


def test_lock_is_freed_when_its_process_is_killed(path: Path) -> None:
    with holder(path) as process:
        process.kill()
        process.wait()
        with held(path):
            pass


FORKER = """
import os, signal, sys
from pathlib import Path
from samuel.files.lock import held
with held(Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.pause()
try:
    with held(Path(sys.argv[1])):
        pass
finally:
    os.kill(child, signal.SIGKILL)
"""


def test_forked_child_does_not_keep_the_lock(path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKER, path], check=True, timeout=300)


def test_waiting_for_a_lock_ends_at_the_deadline(path: Path) -> None:
    clock = FakeClock()
    with held(path), pytest.raises(Locked), held(path, wait=1.5, clock=clock):
        pass
    assert sum(clock.slept) == pytest.approx(1.5)
    assert max(clock.slept) < 0.1


def test_lock_without_waiting_does_not_sleep(path: Path) -> None:
    clock = FakeClock()
    with held(path), pytest.raises(Locked), held(path, clock=clock):
        pass
    assert clock.slept == []


@pytest.mark.parametrize("wait", [None, 5])
def test_waiter_gets_the_lock_when_it_is_freed(path: Path, wait: float | None) -> None:
    got_it = threading.Event()

    def waiter() -> None:
        with held(path, wait=wait):
            got_it.set()

    thread = threading.Thread(target=waiter)
    with held(path):
        thread.start()
        assert not got_it.wait(0.1)
    thread.join(5)
    assert got_it.is_set()


def test_threads_exclude_each_other(path: Path) -> None:
    inside = most = total = 0

    def work() -> None:
        nonlocal inside, most, total
        for _ in range(50):
            with held(path, wait=None):
                inside += 1
                most = max(most, inside)
                total += 1
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert (most, total) == (1, 400)


COUNTER = """
import sys
from pathlib import Path
from samuel.files.lock import held
lock, count = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(50):
    with held(lock, wait=None):
        count.write_text(str(int(count.read_text()) + 1))
"""


def test_processes_exclude_each_other(path: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0")
    workers = [subprocess.Popen([sys.executable, "-c", COUNTER, path, count]) for _ in range(4)]
    assert [worker.wait(300) for worker in workers] == [0] * 4
    assert count.read_text() == "200"


def test_lock_file_that_is_a_link_is_refused_and_its_target_untouched(path: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    path.symlink_to(tmp_path / "precious")
    with pytest.raises(UnsafePath, match="symbolic link"), held(path):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_no_descriptor_is_left_open(path: Path) -> None:
    before = os.listdir("/dev/fd")
    with held(path), pytest.raises(Locked), held(path):
        pass
    assert os.listdir("/dev/fd") == before
