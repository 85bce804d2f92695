"""What Linux tells about processes: who is whose child, in which session, with which environment.

Almost everything here reads a handful of files of known processes: scanning all of /proc costs milliseconds on
a busy machine. Where these files are missing (other POSIX, a kernel without
CONFIG_PROC_CHILDREN, no /proc in a container) the answers are empty, and `tree` falls back to the group.
"""

# Annotations are not postponed here: NamedTuple would compile the text of each.

import os
import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36
PR_SET_PDEATHSIG = 1


class Stat(NamedTuple):
    state: str
    parent: int
    group: int
    session: int

    @property
    def dead(self) -> bool:
        return self.state in "ZX"


def available() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def be_subreaper(enabled: bool) -> bool:
    """Make orphans below us our children instead of init's, so that they can be found and ended; or not any more.

    This holds for the process, not for its forks or its children.
    """
    try:
        return bool(_prctl()(PR_SET_CHILD_SUBREAPER, int(enabled), 0, 0, 0) == 0)
    except (OSError, AttributeError):  # not Linux: orphans go to init and only the group is ended
        return False


def signal_at_death_of_parent(signum: int) -> bool:
    """Have the kernel send us this signal when the process that forked us ends, however it ends."""
    try:
        return bool(_prctl()(PR_SET_PDEATHSIG, int(signum), 0, 0, 0) == 0)
    except (OSError, AttributeError):  # not Linux
        return False


@cache
def _prctl() -> Callable[..., int]:
    try:
        # What `ctypes` is made of, without the types that it defines for everybody: a quarter of its time.
        import _ctypes

        address = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        return lambda *numbers: int(_ctypes.call_function(address, numbers))
    except (ImportError, AttributeError, TypeError):  # another interpreter: none of this is documented
        import ctypes

        prctl: Callable[..., int] = ctypes.CDLL(None).prctl
        return prctl


def main_thread_children() -> list[int]:
    """Our children in the main thread's list. The kernel gives orphans to the first living thread: that one.

    A child that another thread started is in that thread's list until that thread ends.
    """
    return _pids(f"/proc/self/task/{os.getpid()}/children")


def children(pid: int) -> list[int]:
    """The children of all threads of a process; none when it is gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [child for thread in threads for child in _pids(f"/proc/{pid}/task/{thread}/children")]


def with_descendants(pids: list[int]) -> list[int]:
    """These processes and everything below them, parents before their children."""
    tree = dict.fromkeys(pids)
    waiting = pids
    while waiting:
        below = [child for pid in waiting for child in children(pid)]
        waiting = [pid for pid in below if pid not in tree]
        tree.update(dict.fromkeys(waiting))
    return list(tree)


def stat(pid: int) -> Stat | None:
    """None when the process is gone. A zombie still has its stat."""
    # The name before the last `)` may itself hold spaces and brackets.
    fields = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split(maxsplit=4)
    return Stat(fields[0].decode(), *map(int, fields[1:4])) if len(fields) > 3 else None


def born(pid: int) -> int:
    """When it started, in ticks since the machine did; 0 when it is gone. With its number this is one process."""
    fields = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
    return int(fields[19]) if len(fields) > 19 else 0


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process and of those of its children that it has waited for; 0 when it is gone."""
    fields = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if len(fields) > 14 else 0.0


def ancestors(below: int = 0) -> list[int]:
    """The processes above `below` (0: this one), nearest first; those of another pid namespace are not seen."""
    pids: list[int] = []
    pid = parent.parent if below and (parent := stat(below)) else 0 if below else os.getppid()
    while pid > 0 and pid not in pids:
        pids.append(pid)
        status = stat(pid)
        pid = status.parent if status else 0
    return pids


def environ_has(pid: int, name: str, prefix: str) -> bool:
    """Was the process started with `name` in its environment, and a value that begins with `prefix`?"""
    return b"\0" + os.fsencode(f"{name}={prefix}") in b"\0" + _environ(pid)


def _environ(pid: int) -> bytes:
    # In the middle of an exec a process has neither arguments nor environment, for as long as it takes to load the
    # new program. One that was really started without an environment has arguments.
    for _ in range(100):
        if environ := read(f"/proc/{pid}/environ"):
            return environ
        if read(f"/proc/{pid}/cmdline"):
            return read(f"/proc/{pid}/environ")  # again: the exec may have ended between the two
        if (now := stat(pid)) is None or now.dead:
            break
        time.sleep(0.0005)
    return b""


def _pids(path: str) -> list[int]:
    return [int(pid) for pid in read(path).split()]


def read(path: str) -> bytes:
    """The content of a file of /proc; b"" if it cannot be read."""
    # Bare descriptors: a file object costs as much again as the read, and this is on the path of every call.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        whole = b""
        while chunk := os.read(fd, 16384):
            whole += chunk
        return whole
    except OSError:  # it went while we read (ESRCH), or it is not ours to look at
        return b""
    finally:
        os.close(fd)


def carrying(name: str, value: str, *, prefix: bool = False) -> list[int]:
    """Every process of ours with this variable in its environment, or with one whose value begins so.

    It looks at all of /proc: for rare moments.
    """
    try:
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
    except OSError:
        return []
    variable = f"\0{name}={value}{'' if prefix else chr(0)}".encode()
    return [pid for pid in pids if variable in b"\0" + read(f"/proc/{pid}/environ") + b"\0"]


def running_in(name: str, directory: str) -> bool:
    """Whether a process whose program begins with `name` works in this directory or below it."""
    for pid in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        try:
            place = os.readlink(f"/proc/{pid}/cwd") if pid.isdecimal() else ""
        except OSError:  # it has ended, or it is another user's
            continue
        if (place == directory or place.startswith(f"{directory}/")) and read(f"/proc/{pid}/comm").startswith(
            name.encode()
        ):
            return True
    return False
