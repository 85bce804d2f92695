"""Walls of rules: landlock, where mounts cannot be had, such as inside many containers.

The files are all still there to be named, but those that were not granted cannot be opened.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from samuel.confine import seccomp
from samuel.confine.walls.places import OpenedPath, below, machine, shut
from samuel.process import environment, spawn
from samuel.process.output import failure

_LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("landlock_exec.py")))
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_TRIAL = 60.0  # a busy machine must not look like one without walls


def command(
    argv: Sequence[str],
    doors: Sequence[OpenedPath],
    root: str,
    *,
    network: bool,
    visible: Sequence[str],
    filter_fd: int = -1,
) -> list[str]:
    around = [*machine(), *visible]
    hidden = shut(root, around)
    rules: list[tuple[str | int, bool, list[str]]] = [("/proc", False, [])]
    rules += ((path, True, []) for path in _DEVICES)
    rules += ((path, False, _inside(path, hidden)) for path in dict.fromkeys(around))
    if network:
        rules.append((os.path.realpath("/etc/resolv.conf"), False, []))
    for door in doors:
        read_only = [other.path for other in doors if door.writable and not other.writable]
        rules.append((door.fd, door.writable, _inside(door.path, read_only)))
    request = {"rules": rules, "network": network, "close": [door.fd for door in doors], "filter": filter_fd}
    return [*_LAUNCHER, json.dumps(request), *argv]


def try_it() -> tuple[int, bool]:
    """The version of the rules that this kernel has, 0 for none, and whether system calls can be filtered."""
    version = spawn.run(_LAUNCHER, cwd="/", env=environment.clean(), timeout=_TRIAL).stdout.decode().strip()
    if not version or version == "0":
        return 0, False
    with seccomp.filter_file(seccomp.PLUGIN, families(network=False)) as fd:
        if fd >= 0 and _works(fd):
            return int(version), True
    return (int(version), False) if _works(-1) else (0, False)


def families(network: bool) -> tuple[int, ...]:
    """The sockets it may have. Not unix sockets: the user's other programs listen on those."""
    return seccomp.INTERNET if network else ()


def gaps(version: int, filtered: bool) -> tuple[str, ...]:
    """What a plugin can do in spite of these walls."""
    lines = [
        "it can see that files exist, and change modes and times of your files",
        "it can see which other processes run",
        "even if it may write the whole project, it cannot make new files in its top directory",
    ]
    if version < 6:
        lines.append("it can send signals to the user's other processes")
    if version < 3:
        lines.append("it can empty files that it may only read")
    if not filtered:
        reach = "programs that listen on unix sockets"
        lines += (
            f"it can reach the network, and {reach}" if version < 4 else f"it can use UDP and reach {reach}",
            "it can read the user's kernel keyring, change limits and priorities of the user's other processes, "
            "leave shared memory behind, change extended attributes of the user's files and make them setuid",
        )
    return tuple(lines)


def _works(filter_fd: int) -> bool:
    wall = command(["/bin/sh", "-c", ":"], (), "/", network=False, visible=(), filter_fd=filter_fd)
    fds = (filter_fd,) if filter_fd >= 0 else ()
    return not failure(spawn.run(wall, cwd="/", env=environment.clean(), timeout=_TRIAL, pass_fds=fds))


def _inside(place: str, paths: Sequence[str]) -> list[str]:
    return [os.path.relpath(path, place) for path in paths if below(path, place)]
