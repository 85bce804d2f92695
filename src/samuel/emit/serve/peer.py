"""Who asks: only a process that could run the hooks itself, with the same rights and in the same surroundings.

A socket can be reached from inside a container, a sandbox or a run whose agent is watched. Hooks that the server
calls for such a process would run outside of it. So a caller that is confined in another way than the server, or
belongs to another run, is told to do without.
"""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

from samuel.process.live import all_enclosing

_NAMESPACES = ("ns/mnt", "ns/pid", "ns/net", "ns/user", "root")
_CONFINED = (
    *(b"\nUmask:", b"\nUid:", b"\nGid:", b"\nGroups:"),  # which files it may write, and how they are then
    *(b"\nCapEff:", b"\nCapBnd:", b"\nNoNewPrivs:"),
    *(b"\nSeccomp:", b"\nSeccomp_filters:"),  # in a container both have filters, a sandbox in it has more
)
_CHUNK = 8 * 1024  # longer than most; the kernel gives as much of a status as is asked for
_LOCAL_PEERCRED, _SOL_LOCAL, _XUCRED = 1, 0, struct.Struct("II")  # macOS


class Surroundings:
    """Where a process runs: its user, its namespaces, its confinement, and the runs it is below."""

    def __init__(self, live: Path) -> None:
        self._live = live
        self._own = _surroundings(os.getpid())
        self._runs = all_enclosing(live)

    def objection(self, connection: socket.socket) -> str:
        """Why the process at the other end is not served; "" if it is."""
        if not hasattr(socket, "SO_PEERCRED"):
            return "" if _user_on_macos(connection) == os.getuid() else "the caller is another user"
        pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.getuid():
            return "the caller is another user"
        if pid <= 0 or _surroundings(pid) != self._own:
            return "the caller runs in another sandbox or namespace than the server"
        if all_enclosing(self._live, pid) != self._runs:
            return "the caller does not belong to the same runs as the server"
        return ""


def _surroundings(pid: int) -> tuple[object, ...]:
    """All that says how a process is confined; () where that cannot be read."""
    try:
        namespaces = [os.readlink(f"/proc/{pid}/{name}") for name in _NAMESPACES]
        file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = os.read(file, _CHUNK)
            while len(status) % _CHUNK == 0 and (more := os.read(file, _CHUNK)):  # the status of many groups
                status += more
        finally:
            os.close(file)
    except OSError:
        return ()
    return *namespaces, *(status_line(status, key) for key in _CONFINED)


def status_line(status: bytes, key: bytes) -> bytes:
    """The line of a /proc/PID/status that begins with `key`; b"" if it has none, as on older kernels."""
    start = status.find(key) + 1
    return status[start : status.find(b"\n", start)] if start else b""


def _user_on_macos(connection: socket.socket) -> int:
    try:
        credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 128)
        return int(_XUCRED.unpack_from(credentials)[1])
    except (OSError, struct.error):
        return -1
