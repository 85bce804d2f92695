"""How much a plugin's processes may use: memory and processes, as far as this machine can hold them to it.

A process is held to an amount of private memory by the kernel's own limit (RLIMIT_DATA, which does not count
address space that is only reserved, as JavaScript engines do). All processes of a call together are held to the
same amount, and to a number, by a control group, where this user may make one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from samuel.confine.walls import cgroup

_TRIAL = 10.0

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
    group = cgroup.make(*limits)
    if group is None:
        return LimitedCommand(_command(argv, limits, ()), _nothing)
    return LimitedCommand(_command(argv, limits, group.doors), group.remove)


def gaps(counted: bool = False) -> tuple[str, ...]:
    """What the limits do not hold on this machine, in plain words. Really tried.

    `counted`: the walls limit the number of processes.
    """
    group = cgroup.make(*DEFAULT)
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
