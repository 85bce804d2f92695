"""Asking the servers of a project about themselves, and telling them to stop."""

from __future__ import annotations

import os
import socket

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.emit.serve import wire
from samuel.emit.serve.status import ServerStatus
from samuel.version import __version__

_SECONDS = 5.0


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
