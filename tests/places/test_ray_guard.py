"""The process between a worker and its command: whichever of them ends, nothing of the command is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

import pytest

from samuel.process import procfs

pytestmark = pytest.mark.skipif(not procfs.available(), reason="needs the kernel's lists of children")

GUARD = [sys.executable, "-P", "-m", "samuel.places.ray_guard", "3"]
WAIT = 30.0


class Marked:
    """Processes that are found by an argument that no other process has, whatever else they drop."""

    def __init__(self) -> None:
        self.number = f"{uuid4().int % 10**9 + 10**9}"

    @property
    def sleep(self) -> str:
        """A command that runs for decades, and has a name of its own."""
        return f"sleep {self.number}"

    def alive(self) -> list[int]:
        """The `sleep` processes that run."""
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
        word = f"sleep\0{self.number}\0".encode()
        return [pid for pid in pids if procfs.read(f"/proc/{pid}/cmdline") == word and not _dead(pid)]

    def wait_for(self, count: int, within: float = WAIT) -> None:
        until = time.monotonic() + within
        while len(self.alive()) != count:
            assert time.monotonic() < until, f"{len(self.alive())} processes instead of {count}"
            time.sleep(0.02)


def _dead(pid: int) -> bool:
    status = procfs.stat(pid)
    return status is None or status.dead


@pytest.fixture
def marked() -> Iterator[Marked]:
    processes = Marked()
    yield processes
    for pid in processes.alive():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def guarded(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*GUARD, "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def family(sleep: str) -> str:
    """A child, one in a session of its own, and a daemon without parent, session and environment."""
    return f"{sleep} & setsid {sleep} & (setsid env -i {sleep} &) & "


def test_guard_hands_on_stdin_stdout_and_the_exit_code() -> None:
    process = guarded("cat; echo trouble >&2; exit 7")
    stdout, stderr = process.communicate(b"x" * 300_000, timeout=WAIT)
    assert (process.returncode, stdout, stderr) == (7, b"x" * 300_000, b"trouble\n")


def test_guard_says_why_a_command_cannot_be_started() -> None:
    process = subprocess.run(
        [*GUARD, "/no/such/program"], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT
    )
    assert process.returncode == 127
    assert b"/no/such/program" in process.stderr


@pytest.mark.parametrize("ending", ["exit 0", "kill -9 $$"])
def test_nothing_is_left_when_the_command_ends_or_is_killed(marked: Marked, ending: str) -> None:
    process = guarded(f"{family(marked.sleep)} read line; {ending}")
    assert process.stdin is not None
    marked.wait_for(3)
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    assert process.wait(WAIT) == (0 if ending == "exit 0" else 128 + 9)
    assert marked.alive() == []
    process.communicate()


def test_command_is_asked_to_end_by_its_stdin_and_then_ends_in_order(marked: Marked) -> None:
    process = guarded(f"{family(marked.sleep)} cat >/dev/null; echo cleaned up; exit 3")
    marked.wait_for(3)
    stdout, _ = process.communicate(timeout=WAIT)
    assert (process.returncode, stdout) == (3, b"cleaned up\n")
    assert marked.alive() == []


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_command_that_ignores_its_stdin_is_killed(marked: Marked, signum: int) -> None:
    process = guarded(f"trap '' TERM; {family(marked.sleep)} {marked.sleep}")
    marked.wait_for(4)
    os.kill(process.pid, signum)
    assert process.wait(WAIT) == 128 + 9
    assert marked.alive() == []
    process.communicate()


def test_nothing_is_left_when_the_worker_is_killed(marked: Marked) -> None:
    script = f"{family(marked.sleep)} cat >/dev/null"
    code = "import subprocess, sys\nsubprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE).wait()"
    worker = subprocess.Popen(
        [sys.executable, "-c", code, *GUARD, "sh", "-c", script],
        start_new_session=True,
    )
    marked.wait_for(3)
    worker.kill()
    worker.wait()
    marked.wait_for(0)


def test_nothing_is_left_when_another_process_holds_the_stdin_of_a_guard_whose_worker_was_killed(
    marked: Marked,
) -> None:
    reading, writing = os.pipe()
    try:
        code = "import subprocess, sys\nsubprocess.Popen(sys.argv[2:], stdin=int(sys.argv[1])).wait()"
        worker = subprocess.Popen(
            [
                sys.executable,
                "-c",
                code,
                str(reading),
                *GUARD,
                "sh",
                "-c",
                f"{family(marked.sleep)} cat >/dev/null",
            ],
            start_new_session=True,
            pass_fds=(reading,),
        )
        marked.wait_for(3)
        worker.kill()
        worker.wait()
        marked.wait_for(0)
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("generation", ["outer process", "guard"])
def test_nothing_is_left_when_a_process_between_is_killed(marked: Marked, generation: str) -> None:
    outer = guarded(f"{family(marked.sleep)} cat >/dev/null")
    marked.wait_for(3)
    (guard,) = procfs.children(outer.pid)
    os.kill(outer.pid if generation == "outer process" else guard, signal.SIGKILL)
    assert outer.wait(WAIT) == (-9 if generation == "outer process" else 128 + 9)
    marked.wait_for(0)
    outer.communicate()


def test_nothing_is_left_when_the_worker_and_its_children_are_killed(marked: Marked) -> None:
    """As Ray does on a machine whose daemon died."""
    code = "import subprocess, sys\nsubprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE).wait()"
    worker = subprocess.Popen(
        [sys.executable, "-c", code, *GUARD, "sh", "-c", f"{family(marked.sleep)} cat >/dev/null"],
        start_new_session=True,
    )
    marked.wait_for(3)
    for pid in [*procfs.children(worker.pid), worker.pid]:
        os.kill(pid, signal.SIGKILL)
    worker.wait()
    marked.wait_for(0)
