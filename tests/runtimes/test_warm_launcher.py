"""Scripts of plugins that are started by a launcher within their walls: like those with walls of their own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from samuel.base.clock import SystemClock
from samuel.confine.walls import walls
from samuel.confine.walls.walls import BWRAP
from samuel.hooks.handler import Handler, Outcome
from samuel.process import procfs
from samuel.process.environment import clean
from samuel.runtimes.exec import ExecRuntime

from .contract import LIMIT, RuntimeContract, event
from .test_confined import cannot, handler, package, script
from .test_exec import SCRIPTS


def build(root: Path) -> ExecRuntime:
    if not walls.has_launcher():
        cannot("no launcher: no bubblewrap, or no filter of system calls")
    return ExecRuntime(root, clean(), root.parent / "samuel-cache", LIMIT, SystemClock(), BWRAP)


class TestLaunchedScripts(RuntimeContract):
    """The contract, with a launcher from the first call on."""

    def build(self, root: Path) -> ExecRuntime:
        for behaviour, text in SCRIPTS.items():
            script(package(root), text, behaviour)
        runtime = build(root)
        runtime.call(self.handler(root, "empty"), event(), self.timeout)
        return runtime

    def handler(self, root: Path, behaviour: str) -> Handler:
        return handler(package(root), behaviour)


class Launched:
    """A runtime whose launcher has been started."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.runtime = build(root)
        self.of = package(root, write=("out",))
        (root / "out").mkdir()
        self.sh("true")  # walls of its own
        self.sh("true")
        self.launcher_pid()

    def sh(self, text: str, timeout: float = 60.0) -> Any:
        hook = script(self.of, f"#!/bin/sh\n{text}\n")
        return self.runtime.call(hook, event(), timeout)

    def lines(self, text: str) -> list[str]:
        """What a script writes."""
        reply = self.sh(f"{{ {text}\n}} > out/lines 2>&1")
        assert reply.outcome is Outcome.OK, reply
        return (self.root / "out/lines").read_text().splitlines()

    def launcher_pid(self) -> int:
        [(_, idle)] = self.runtime._launchers._idle.items()
        [(warm, _)] = idle
        return warm.launcher._process.pid


@pytest.fixture
def launched(tmp_path: Path, marked: Any) -> Iterator[Launched]:
    root = tmp_path / "here"
    root.mkdir()
    launched = Launched(root)
    yield launched
    launched.runtime.close()
    marked.check()


def test_calls_share_the_launcher_and_each_has_a_process_of_its_own(launched: Launched) -> None:
    before = launched.launcher_pid()
    for _ in range(3):
        assert launched.lines("echo $$") == ["2"]  # of a pid namespace that is new
    assert launched.launcher_pid() == before


def test_a_call_finds_nothing_that_an_earlier_one_left(launched: Launched) -> None:
    leave = "touch /tmp/left /dev/shm/left; export LEFT=1; cd /; umask 0; sleep 1000 & setsid sleep 1000 &"
    assert launched.sh(leave).outcome is Outcome.OK
    look = "ls /tmp/left /dev/shm; pwd; umask; echo LEFT=$LEFT; ls /proc | grep -c '^[0-9]'; touch /dev/x; true"
    assert launched.lines(look) == [
        "ls: cannot access '/tmp/left': No such file or directory",
        "/dev/shm:",
        str(launched.root),
        "0022",
        "LEFT=",
        "4",  # the first process, the shell, ls and grep
        "touch: cannot touch '/dev/x': Read-only file system",
    ]


def test_a_script_has_the_environment_it_has_with_walls_of_its_own(launched: Launched) -> None:
    warm = launched.lines("env | sort")
    apart = build(launched.root)
    try:
        hook = script(launched.of, "#!/bin/sh\nenv | sort > out/lines\n")
        assert apart.call(hook, event(), 60.0).outcome is Outcome.OK
    finally:
        apart.close()
    cold = (launched.root / "out/lines").read_text().splitlines()

    def comparable(lines: list[str]) -> list[str]:
        return [
            line.partition("=")[0] if line.startswith(("SAMUEL_CALL", "SAMUEL_DEADLINE")) else line
            for line in lines
        ]

    assert comparable(warm) == comparable(cold)


def test_a_script_has_the_rights_it_has_with_walls_of_its_own(launched: Launched) -> None:
    text = "grep -E '^(Cap[PE]|NoNewPrivs|Seccomp)' /proc/self/status; ls /proc/self/fd"
    warm = launched.lines(text)
    apart = build(launched.root)
    try:
        hook = script(launched.of, f"#!/bin/sh\n{{ {text}\n}} > out/lines 2>&1\n")
        assert apart.call(hook, event(), 60.0).outcome is Outcome.OK
    finally:
        apart.close()
    assert warm == (launched.root / "out/lines").read_text().splitlines()


def test_a_script_cannot_reach_the_process_that_started_it(launched: Launched) -> None:
    before = launched.launcher_pid()
    reach = (
        "cat /proc/1/environ; ls /proc/1/fd; kill -9 1; kill -STOP 1; mount -t tmpfs none /tmp; touch /proc/sys/x"
    )
    lines = launched.lines(f"{reach}\nkill -0 1 && echo alive")
    assert lines[-1] == "alive"
    assert [line for line in lines if "Permission denied" in line][:1] != []
    assert launched.sh("kill -9 -1").outcome is Outcome.CRASHED
    assert launched.sh("kill 0").outcome is Outcome.CRASHED
    assert launched.lines("echo fine") == ["fine"]
    assert launched.launcher_pid() == before


def test_a_deadline_ends_the_call_and_not_the_launcher(launched: Launched) -> None:
    before = launched.launcher_pid()
    reply = launched.sh("trap '' TERM; setsid sleep 1000 & sleep 1000", timeout=0.3)
    assert (reply.outcome, reply.message) == (Outcome.TIMED_OUT, "killed after 0.3s")
    assert launched.launcher_pid() == before


def test_a_script_may_clean_up_at_its_deadline(launched: Launched) -> None:
    reply = launched.sh("trap 'echo late > out/said; exit' TERM; sleep 1000 & wait", timeout=0.3)
    assert reply.outcome is Outcome.TIMED_OUT
    assert (launched.root / "out/said").read_text() == "late\n"


def test_a_launcher_that_died_is_not_the_next_calls_fault(launched: Launched) -> None:
    before = launched.launcher_pid()
    pids = procfs.with_descendants([before])
    for pid in reversed(pids):
        with suppress(ProcessLookupError):  # it ended with another one of them
            os.kill(pid, signal.SIGKILL)
    while any((status := procfs.stat(pid)) and not status.dead for pid in pids):
        time.sleep(0.01)
    assert launched.lines("echo fine") == ["fine"]
    assert launched.lines("echo again") == ["again"]
    assert launched.launcher_pid() != before


def test_a_granted_path_that_was_replaced_is_seen_by_the_next_call(launched: Launched) -> None:
    (launched.root / "out").rename(launched.root / "old")
    (launched.root / "out").mkdir()
    assert launched.lines("echo new") == ["new"]
    (launched.root / "out").rename(launched.root / "older")
    (launched.root / "out").symlink_to("/etc")
    assert launched.sh("true").outcome is Outcome.REFUSED


@pytest.mark.slow
def test_calls_that_come_while_launchers_are_busy_are_not_held_up(launched: Launched) -> None:
    hang = script(launched.of, "#!/bin/sh\nread line < out/pipe\n", "hang")
    quick = script(launched.of, "#!/bin/sh\ntrue\n", "quick")
    os.mkfifo(launched.root / "out/pipe")
    with ThreadPoolExecutor(12) as threads:
        hanging = [threads.submit(launched.runtime.call, hang, event(), 60.0) for _ in range(10)]
        try:
            assert launched.runtime.call(quick, event(), 60.0).outcome is Outcome.OK
            assert not all(future.done() for future in hanging)
        finally:
            while not all(future.done() for future in hanging):
                try:
                    os.close(os.open(launched.root / "out/pipe", os.O_WRONLY | os.O_NONBLOCK))
                except OSError:
                    pass
                time.sleep(0.01)
    assert {future.result().outcome for future in hanging} <= {Outcome.OK, Outcome.CRASHED}


def test_nothing_is_left_when_the_runtime_is_closed(launched: Launched) -> None:
    pid = launched.launcher_pid()
    launched.runtime.close()
    assert not Path(f"/proc/{pid}").exists()
