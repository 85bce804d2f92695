"""A real Ray cluster for tests: on loopback, in a network namespace of its own, with a token.

Ray listens on all interfaces whatever it is told, so it only ever runs where there is no other interface.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from samuel.process import procfs
from samuel.process.tree import end

HEAD = "127.0.0.2"
PORT = 6379
CLONE_NEWNET = 0x4000_0000
_STARTS_WITHIN = 240.0
_TRIES = 4


def unavailable() -> str:
    """Why no cluster can be started here; "" if one can."""
    if importlib.util.find_spec("ray") is None:
        return "Ray is not installed (make fleet installs it)"
    if os.getuid() != 0:
        return "only root can make a network namespace and return from it"
    try:
        with own_network():
            return ""
    except OSError as error:
        return f"no network namespace can be made here: {error}"


@contextmanager
def own_network() -> Iterator[None]:
    """This thread, and what it starts, has a network of its own with nothing but loopback while this lasts."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open(f"/proc/self/task/{_thread()}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield
        finally:
            libc.setns(before, CLONE_NEWNET)
    finally:
        os.close(before)


def _thread() -> int:
    return threading.get_native_id()


class RayNode(NamedTuple):
    process: subprocess.Popen[bytes]
    address: str

    @property
    def raylet(self) -> int:
        """The process id of the node's daemon."""
        return next(pid for pid in self.processes() if _program(pid) == "raylet")

    def processes(self) -> list[int]:
        return procfs.with_descendants([self.process.pid])

    def workers(self) -> list[int]:
        """Its workers that have a command under way."""
        return [pid for pid in self.processes() if _program(pid).startswith("ray::") and procfs.children(pid)]

    def freeze(self) -> Callable[[], None]:
        """Stop all of it; gives a function that lets it go on."""
        pids = self.processes()
        _signal_all(pids, signal.SIGSTOP)
        return lambda: _signal_all(pids, signal.SIGCONT)


def _signal_all(pids: list[int], signum: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signum)


def _program(pid: int) -> str:
    return os.path.basename(procfs.read(f"/proc/{pid}/cmdline").split(b"\0")[0].decode(errors="replace"))


class RayCluster:
    """Nodes on 127.0.0.2 and following, started one after another: Ray fails if they start together."""

    def __init__(self, directory: Path, variables: Mapping[str, str] | None = None, *, token: bool = True) -> None:
        self.directory = directory
        self.token_file = directory / "token"
        self.token_file.write_text("0123456789abcdef" * 4)
        self.address = f"{HEAD}:{PORT}"
        # The path of a socket has at most 107 characters, and Ray adds 70.
        self._temporary = tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True)
        self._variables = {**(variables or {})}
        self._token = token
        self._logs = itertools.count(1)
        self.nodes: dict[str, RayNode] = {}

    def variables(self) -> dict[str, str]:
        """What a process needs in its environment to be part of the cluster."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "SAMUEL_"))}
        auth = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.token_file)}
        return {
            **plain,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_memory_monitor_refresh_ms": "0",
            # A busy machine is no failure.
            "RAY_raylet_start_wait_time_s": "60",
            "RAY_agent_register_timeout_ms": "200000",
            "RAY_worker_register_timeout_seconds": "200",
            **(auth if self._token else {"RAY_AUTH_MODE": "disabled"}),
            **self._variables,
        }

    def start_head(self, resources: Mapping[str, float] | None = None) -> RayNode:
        where = ("--head", f"--port={PORT}", "--include-dashboard=false", f"--temp-dir={self._temporary.name}")
        return self._start(HEAD, resources or {}, where, {}, nohup=False)

    def start_node(
        self,
        number: int,
        resources: Mapping[str, float],
        variables: Mapping[str, str] | None = None,
        *,
        nohup: bool = False,
    ) -> RayNode:
        where = (f"--address={self.address}",)
        return self._start(f"127.0.0.{2 + number}", resources, where, variables or {}, nohup=nohup)

    def remove(self, node: RayNode) -> None:
        _signal_all(node.processes(), signal.SIGCONT)
        end(node.process, grace=1.0)
        self.nodes.pop(node.address)

    def stop(self) -> None:
        for node in reversed(list(self.nodes.values())):
            self.remove(node)
        self._temporary.cleanup()

    def _start(
        self,
        address: str,
        resources: Mapping[str, float],
        where: tuple[str, ...],
        variables: Mapping[str, str],
        *,
        nohup: bool,
    ) -> RayNode:
        command = [
            sys.executable, "-m", "ray.scripts.scripts", "start", *where, f"--node-ip-address={address}",
            "--num-cpus=0", "--num-gpus=0", "--object-store-memory=80000000",
            f"--resources={json.dumps(dict(resources))}", "--disable-usage-stats", "--block",
        ]  # fmt: skip
        home = self.directory / f"home-{address}"
        home.mkdir(exist_ok=True)
        env = {**self.variables(), "HOME": str(home), **variables}
        # With several clusters on a busy machine, one of Ray's daemons sometimes ends while it starts.
        for _ in range(_TRIES):
            log = self.directory / f"node-{address}-{next(self._logs)}.log"
            process = _started(["nohup", *command] if nohup else command, env, log, ignore_interrupts=nohup)
            if process.poll() is None:
                node = RayNode(process, address)
                self.nodes[address] = node
                return node
            end(process)
        raise AssertionError(log.read_text())


def _started(
    command: list[str], env: Mapping[str, str], log: Path, *, ignore_interrupts: bool
) -> subprocess.Popen[bytes]:
    """The process of `ray start`, when it has started the node or ended."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, env=env,
            preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignore_interrupts else None,
        )  # fmt: skip
    wait_until(
        lambda: b"Ray runtime started" in log.read_bytes() or process.poll() is not None, str(log), _STARTS_WITHIN
    )
    return process


def wait_until(condition: Callable[[], object], what: str, within: float = 60.0) -> None:
    until = time.monotonic() + within
    while not condition():
        assert time.monotonic() < until, f"not within {within} s: {what}"
        time.sleep(0.1)
