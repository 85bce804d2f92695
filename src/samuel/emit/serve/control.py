"""Asking the servers of a project about themselves, and telling them to stop; what they answer."""

from __future__ import annotations

import os
import socket

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.emit.serve import wire
from samuel.version import __version__

_SECONDS = 5.0


class ServerStatus(msgspec.Struct):
    """What a server tells about itself."""

    pid: int
    root: str
    socket: str
    version: str
    uptime_s: float
    idle_s: float
    ends_after_idle_s: float | None
    """None for the server of a run, which ends with it: an agent may think for long."""
    calls: int
    left_to_others: int
    """Calls that a process of its own had to answer, and why the last one had to."""
    last_reason: str
    under_way: int
    threads: int
    memory_bytes: int


def ask(path: str, command: bytes) -> ServerStatus:
    """What the server at `path` tells about itself; with `wire.STOP` it ends. SamuelError if it is silent."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_SECONDS)
        try:
            connection.connect(path)
            connection.sendall(wire.header((command, __version__.encode(), b"", os.getcwdb(), b""), (), ()))
            kind, body = wire.Replies(connection.recv).next()
        except (OSError, wire.WireError) as error:
            raise SamuelError(f"the server at `{path}` does not answer: {error}", "end its process") from None
    if kind != wire.ANSWER:
        raise SamuelError(f"the server at `{path}` refuses: {body.decode(errors='replace')}")
    return decode_json(body, ServerStatus)
