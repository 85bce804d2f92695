"""Walls of rules: landlock, where mounts cannot be had, such as inside many containers.

The files are all still there to be named, but those that were not granted cannot be opened.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from samuel.process import environment, spawn
from samuel.process.confine.walls_places import Door, below, machine, shut

_LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("landlock.py")))
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_TRIAL = 10.0


def command(
    argv: Sequence[str], doors: Sequence[Door], root: str, *, network: bool, visible: Sequence[str]
) -> list[str]:
    around = [*machine(), *visible]
    hidden = shut(root, around)
    rules: list[tuple[str | int, bool, list[str]]] = [("/proc", False, [])]
    rules += ((path, True, []) for path in _DEVICES)
    rules += ((path, False, _inside(path, hidden)) for path in dict.fromkeys(around))
    if network:
        rules.append((os.path.realpath("/etc/resolv.conf"), False, []))
    for door in doors:
        kept = [one.path for one in doors if door.writable and not one.writable]
        rules.append((door.fd, door.writable, _inside(door.path, kept)))
    asked = {"rules": rules, "network": network, "close": [door.fd for door in doors]}
    return [*_LAUNCHER, json.dumps(asked), *argv]


def try_it() -> tuple[int, bool]:
    """The version of the rules that this kernel has, 0 for none, and whether sockets can be filtered."""
    tried = spawn.run(_LAUNCHER, cwd="/", env=environment.clean(), timeout=_TRIAL)
    version, *more = tried.stdout.decode().split() or ["0"]
    if not int(version):
        return 0, False
    wall = command(["/bin/sh", "-c", ":"], (), "/", network=False, visible=())
    held = spawn.run(wall, cwd="/", env=environment.clean(), timeout=_TRIAL)
    return (int(version), "seccomp" in more) if held.ended == "exited" and held.returncode == 0 else (0, False)


def gaps(version: int, sockets: bool) -> tuple[str, ...]:
    """What a plugin can do in spite of these walls."""
    found = [
        "it can see that files exist, and change modes and times of the user's",
        "it can see which other processes run",
        "with the whole project to write, it makes no new files at the top of it",
    ]
    if version < 6:
        found.append("it can send signals to the user's other processes")
    if version < 3:
        found.append("it can empty files that it may only read")
    if not sockets:
        reach = "programs that listen on unix sockets"
        found.append(
            f"it can reach the network, and {reach}" if version < 4 else f"it can use UDP and reach {reach}"
        )
    return tuple(found)


def _inside(place: str, paths: Sequence[str]) -> list[str]:
    return [os.path.relpath(path, place) for path in paths if below(path, place)]
