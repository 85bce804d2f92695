"""Containers of a Samuel that was killed: found by their names, and removed when another one starts.

A name says which process made the container: of which boot, in which pid namespace, under which number, born when.
Only where that process is certainly gone is the container a leftover: a Samuel may well run in a container itself,
beside others that talk to the same engine, and cannot see their processes.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from functools import cache
from pathlib import Path

from samuel.confine.containers.engine import Engine
from samuel.process import procfs

_NAME = re.compile(r"samuel-plugin-([0-9a-f]+)-([0-9a-f]+)-([0-9]+)-([0-9]+)-[0-9]+")
_count = itertools.count(1)


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
