"""What a client sends: received in as few system calls as it came in, each of which may be waited for."""

from __future__ import annotations

import socket
import struct

_CHUNK = 16 * 1024  # most messages are shorter, and larger buffers make the allocator ask the kernel


class Incoming:
    """The incoming side of a connection. Its timeouts are the kernel's: Python's would ask before each call."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = b""

    def wait_for(self, seconds: float) -> None:
        """Wait at most so long for anything that is received or sent from now on."""
        time = struct.pack("ll", int(seconds), 0)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time)

    def receive(self, size: int) -> bytes:
        """At most so many bytes, b"" at the end. Raises OSError if nothing comes in time."""
        data = self._buffer or self._connection.recv(max(size, _CHUNK))
        self._buffer = data[size:]
        return data[:size]

    def has_message(self) -> bool:
        """Whether the client's next message is all here, so that nothing needs to be waited for."""
        if not self._is_whole():
            try:
                self._buffer += self._connection.recv(_CHUNK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
        return self._is_whole()

    def _is_whole(self) -> bool:
        return len(self._buffer) >= 4 and len(self._buffer) >= 4 + int.from_bytes(self._buffer[:4], "big")
