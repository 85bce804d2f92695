"""A plugin's container: what it is made of, how it is started, how it is removed.

    with opened(allowed, inside) as doors, launched(engine, flags, wish, doors) as launch:
        finished = spawn.run(launch.argv, cwd="/", env=launch.env, pass_fds=launch.pass_fds, ...)
        launch.trouble(...)

Its root is read-only, it has no rights beyond those of any process of the user, and of this machine it sees the
doors alone, each at the path it has outside. /tmp is its own and gone afterwards.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from samuel.confine.containers.engine import SAFER, Engine, is_direct, volume, wanted_words
from samuel.confine.containers.probe import Flags
from samuel.confine.walls.places import OpenedPath
from samuel.process import procfs

_ALWAYS = (
    *("--rm", "--interactive", "--pull=never", "--read-only", "--stop-timeout=0"),
    "--no-healthcheck",
    "--env=HOME=/tmp",
)
# Without these podman adds writable places and the host's proxies; docker's are those of the user's settings.
_PODMAN = ("--read-only-tmpfs=false", "--image-volume=ignore", "--http-proxy=false")
_DOCKER = tuple(
    f"--env={name}=" for kind in ("http_proxy", "https_proxy", "no_proxy") for name in (kind, kind.upper())
)
_NAME = re.compile(r"samuel-plugin-([0-9a-f]+)-([0-9a-f]+)-([0-9]+)-([0-9]+)-[0-9]+")
_count = itertools.count(1)
_ENGINE_CODES = (125, 126, 127)  # for what the engine itself could not do


class ContainerSpec(NamedTuple):
    image: str
    arguments: tuple[str, ...]
    root: str
    """The project: its working directory."""
    user: tuple[str, ...]
    """`Engine.as_the_user`."""
    memory: int
    env: Mapping[str, str]


class Launch:
    """A container that is about to be started, or was."""

    def __init__(
        self, engine: Engine, name: str, argv: list[str], env: dict[str, str], ends: tuple[int, int], direct: bool
    ) -> None:
        self.name = name
        self.argv = argv
        self.env = env
        self.pass_fds = (ends[1],)
        self.direct = direct
        """Does the engine write a line of its own before the program inside writes any?"""
        self._engine = engine
        self._status = ends[0]
        self._reports: dict[str, str] = {}
        self._rest = b""

    def answer(self, stdout: bytes) -> bytes:
        """What the program inside wrote, without the line that the engine wrote before it."""
        return stdout.partition(b"\n")[2] if self.direct else stdout

    def trouble(self, returncode: int, stderr: str) -> tuple[str, str]:
        """`refused` or `not_started`, and why; two empty words when what ended so was the program inside."""
        reports = self._listen()
        for what in ("refused", "not_started"):
            if what in reports:
                return what, reports[what] or stderr
        codes = _ENGINE_CODES if self._engine.is_podman else (1, *_ENGINE_CODES)
        words = "Error: " if self._engine.is_podman else "Error response from daemon"
        return ("not_started", stderr) if returncode in codes and stderr.startswith(words) else ("", "")

    def remove(self) -> None:
        """End it, unless it was seen to be gone."""
        if "gone" not in self._listen():
            self._engine.remove(self.name)

    def _listen(self) -> dict[str, str]:
        try:
            while chunk := os.read(self._status, 65536):
                self._rest += chunk
        except BlockingIOError:
            pass
        *lines, self._rest = self._rest.split(b"\n")
        self._reports.update(json.loads(line) for line in lines)
        return self._reports


@contextmanager
def launched(engine: Engine, flags: Flags, wish: ContainerSpec, doors: Sequence[OpenedPath]) -> Iterator[Launch]:
    """What to start. When the context ends, nothing of the container is left. Raises NotRunnable."""
    name = new_name()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    try:
        with tempfile.TemporaryDirectory(prefix="samuel-") as scratch:
            create = [*_create(engine, flags, wish, doors), f"--name={name}"]
            pid_file = monitor_file = ""
            if engine.runs_here:
                pid_file, monitor_file = (os.path.join(scratch, file) for file in ("pid", "monitor"))
                create += (f"--pidfile={pid_file}", f"--conmon-pidfile={monitor_file}")
            create += (wish.image, *wish.arguments)
            init = [*flags.before, "init", name]
            direct = is_direct(engine, flags)
            argv = engine.watched(
                (*flags.before, "start", *(() if direct else ("--attach", "--interactive")), name),
                steps=[create, *([init] if engine.runs_here and not direct else ())],
                direct=init if direct else (),
                pid_file=pid_file,
                monitor_file=monitor_file,
                places=[(door.path, *_identity(door)) for door in doors],
                status=writing,
            )
            launch = Launch(engine, name, argv, {**engine.env, **wish.env}, (reading, writing), direct)
            try:
                yield launch
            finally:
                launch.remove()
    finally:
        os.close(reading)
        os.close(writing)


def _create(engine: Engine, flags: Flags, wish: ContainerSpec, doors: Sequence[OpenedPath]) -> list[str]:
    words = [*flags.before, "create", *_ALWAYS, *SAFER, *flags.after]
    words += (*wanted_words(engine, flags, wish.memory), *wish.user)
    words += _PODMAN if engine.is_podman else _DOCKER
    words += (f"--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size={wish.memory // 2}", f"--workdir={wish.root}")
    words.append(f"--label={label(wish.root)}")
    # The names alone: the client has the values in its environment.
    words += (f"--env={name}" for name in wish.env)
    for door in doors:
        # Not what else is mounted below it: that would stay as writable as it is outside.
        read_only = "ro,bind" if engine.is_podman else "ro"
        words.append(volume(door.path, door.path, "rw" if door.writable else read_only))
    return words


def _identity(door: OpenedPath) -> tuple[int, int]:
    status = os.fstat(door.fd)
    return status.st_dev, status.st_ino


# Containers of a Samuel that was killed are found by their names, and removed when another one starts. A name says
# which process made the container: of which boot, in which pid namespace, under which number, born when. Only
# where that process is certainly gone is it a leftover: a Samuel may run in a container itself, beside others that
# talk to the same engine, and cannot see their processes.


def new_name() -> str:
    return f"samuel-plugin-{_boot()}-{_namespace()}-{os.getpid()}-{_born(os.getpid())}-{next(_count)}"


def label(root: str) -> str:
    """What the containers of one project have in common."""
    return f"samuel.project={hashlib.sha256(root.encode()).hexdigest()[:16]}"


def sweep(engine: Engine, root: str, timeout: float) -> list[str]:
    """Remove what killed processes left of this project's containers; their names."""
    listed = engine.say("ps", "--all", f"--filter=label={label(root)}", "--format={{.Names}}", timeout=timeout)
    left = [name for name in listed.stdout.decode("utf-8", "replace").split() if _is_left(name)]
    if left:
        engine.remove(*left)
    return left


def _is_left(name: str) -> bool:
    match = _NAME.fullmatch(name)
    if match is None:
        return False
    boot, namespace, pid, born = match.groups()
    if boot != _boot():
        return True
    return namespace == _namespace() and _born(int(pid)) != int(born)


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:  # not Linux
        return "0"


def _namespace() -> str:
    try:
        return f"{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:
        return "0"


def _born(pid: int) -> int:
    """When the process started, in ticks since boot; 0 when there is none. Without /proc: 1 for any that lives."""
    if procfs.available():
        return procfs.born(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return 0
    except PermissionError:
        pass
    return 1
