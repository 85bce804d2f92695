"""How much a plugin's processes may use: memory and processes, as far as this machine can hold them to it.

A process is held to an amount of private memory by the kernel's own limit (RLIMIT_DATA, which does not count
address space that is only reserved, as JavaScript engines do). All processes of a call together are held to the
same amount, and to a number, by a control group, where this user may make one.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

_TRIAL = 10.0
_NAME = re.compile(r"samuel-(\d+)-\d+")
_CONTROLLERS = ("memory", "pids")
_RETRIES, _PAUSE = 100, 0.005  # a killed process is still in its group for a moment

_numbers = itertools.count(1)

# A shell, for it starts in a millisecond: it limits itself, joins the groups, and becomes the program.
_LAUNCHER = """\
ulimit -c 0
ulimit -d "$1" 2>/dev/null
shift
while [ "$1" != -- ]; do
  { echo $$ > "$1"; } 2>/dev/null
  shift
done
shift
exec "$@"
"""


class ProcessLimits(NamedTuple):
    memory: int = 2 * 1024 * 1024 * 1024
    """Bytes, for each process and for all of a call together."""
    processes: int = 512
    """Processes and threads of a call."""


DEFAULT = ProcessLimits()


class LimitedCommand(NamedTuple):
    argv: list[str]
    release: Callable[[], None]
    """To be called when every process of it has ended."""


def limited(argv: Sequence[str], limits: ProcessLimits = DEFAULT) -> LimitedCommand:
    """The command that runs `argv` within these limits."""
    group = make_group(*limits)
    if group is None:
        return LimitedCommand(_command(argv, limits, ()), _nothing)
    return LimitedCommand(_command(argv, limits, group.doors), group.remove)


def gaps(counted: bool = False) -> tuple[str, ...]:
    """What the limits do not hold on this machine, in plain words. Really tried.

    `counted`: the walls limit the number of processes.
    """
    group = make_group(*DEFAULT)
    if group is not None:
        from samuel.process import environment, spawn  # only where the machine is examined

        argv = _command(["/bin/cat", "/proc/self/cgroup"], DEFAULT, group.doors)
        try:
            tried = spawn.run(argv, cwd="/", env=environment.clean(), timeout=_TRIAL)
        finally:
            group.remove()
        if tried.stdout.decode().count(f"{os.path.basename(group.directories[0])}\n") == len(group.directories):
            return ()
    number = "" if counted else ", and their number is not limited"
    why = "control groups cannot be made here"
    return (f"its memory is limited for each process, not for all of them together{number}: {why}",)


def _command(argv: Sequence[str], limits: ProcessLimits, doors: Sequence[str]) -> list[str]:
    return ["/bin/sh", "-c", _LAUNCHER, "sh", str(limits.memory // 1024), *doors, "--", *argv]


def _nothing() -> None:
    pass


class ControlGroup(NamedTuple):
    """What all processes of one call may use together, where this user may make groups (Linux).

    Both versions are used as they are found. A group is made beside or below Samuel's own and removed with the
    call. One whose Samuel was killed is removed by the next that makes any.
    """

    directories: tuple[str, ...]

    @property
    def doors(self) -> tuple[str, ...]:
        """The files into which a process writes its id to become part of the group."""
        return tuple(os.path.join(directory, "cgroup.procs") for directory in self.directories)

    def remove(self) -> None:
        """Remove it; its processes must have been ended."""
        for directory in self.directories:
            for _ in range(_RETRIES):
                try:
                    os.rmdir(directory)
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_PAUSE)
                else:
                    break


def make_group(memory: int, processes: int) -> ControlGroup | None:
    """A group with these limits; None where this user cannot make one."""
    bases = _bases()
    if not bases:
        return None
    name = f"samuel-{os.getpid()}-{next(_numbers)}"
    group = ControlGroup(tuple(os.path.join(base, name) for base in bases))
    try:
        for directory in group.directories:
            os.mkdir(directory, 0o755)
        for directory in group.directories:
            _set_limits(directory, memory, processes)
    except OSError:  # no longer let, or too many groups
        group.remove()
        return None
    return group


def _set_limits(directory: str, memory: int, processes: int) -> None:
    for file, value in (
        ("memory.max", memory),
        ("memory.swap.max", 0),
        ("memory.limit_in_bytes", memory),
        ("pids.max", processes),
    ):
        path = os.path.join(directory, file)
        if os.path.exists(path):
            with open(path, "w") as limit:
                limit.write(str(value))


@cache
def _bases() -> tuple[str, ...]:
    """The directories in which groups can be made so that memory and processes are both limited; or none."""
    mounted = dict(_mounted())
    own = _own()
    bases: list[str] = []
    for controller in _CONTROLLERS:
        base = _second_version(mounted, own) or _first_version(controller, mounted, own)
        if not base:
            return ()
        if base not in bases:
            bases.append(base)
    for base in bases:
        _sweep(base)
    return tuple(bases)


def _second_version(mounted: Mapping[str, tuple[str, str]], own: Mapping[str, str]) -> str:
    """Beside our own group, where processes and groups do not meet; in the top one, where they may."""
    if "" not in own or "" not in mounted:
        return ""
    point, here = mounted[""][0], _directory(mounted[""], own[""])
    for base in (os.path.dirname(here), here):
        if base == point or base.startswith(f"{point}/"):
            with suppress(OSError), open(os.path.join(base, "cgroup.subtree_control")) as file:
                if set(_CONTROLLERS) <= set(file.read().split()) and os.access(base, os.W_OK):
                    return base
    return ""


def _first_version(controller: str, mounted: Mapping[str, tuple[str, str]], own: Mapping[str, str]) -> str:
    if controller not in own or controller not in mounted:
        return ""
    here = _directory(mounted[controller], own[controller])
    return here if os.access(here, os.W_OK) else ""


def _directory(mount: tuple[str, str], path: str) -> str:
    point, root = mount
    inner = os.path.relpath(path, root) if path == root or path.startswith(f"{root.rstrip('/')}/") else path
    return os.path.normpath(os.path.join(point, inner.lstrip("/")))


def _own() -> dict[str, str]:
    """Controller -> the path of our group; "" is the second version's, which has one for all."""
    groups = {}
    with suppress(OSError), open("/proc/self/cgroup") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def _mounted() -> Iterator[tuple[str, tuple[str, str]]]:
    """Controller -> where its groups are mounted, and which group is mounted there."""
    with suppress(OSError), open("/proc/self/mountinfo") as file:
        for line in file:
            before, _, after = line.rstrip("\n").partition(" - ")
            kind, _, options = after.split(" ", 2)
            root, point = before.split(" ")[3:5]
            if kind == "cgroup2":
                yield "", (point, root)
            elif kind == "cgroup":
                for option in options.split(","):
                    yield option, (point, root)


def _sweep(base: str) -> None:
    """Groups of a Samuel that was killed. A group that has processes cannot be removed."""
    with suppress(OSError):
        for name in os.listdir(base):
            match = _NAME.fullmatch(name)
            if match and not os.path.exists(f"/proc/{match[1]}"):
                with suppress(OSError):
                    os.rmdir(os.path.join(base, name))
