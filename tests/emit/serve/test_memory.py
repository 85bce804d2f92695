"""The memory of a server does not grow with the number of its calls."""

from __future__ import annotations

import os
import socket

from tests.length import at_length

from samuel.emit.serve import wire
from samuel.version import __version__

from .served_project import ALLOWED, DENIED, GUARD, INSTALLATION, ServedProject, read_frame

MIB = 1024 * 1024


def test_memory_is_flat_over_many_calls(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD.replace('"called"', '"/dev/null"'))
    served.start()
    path = served.socket()
    variables = [os.fsencode(f"{name}={value}") for name, value in served.environment.items()]
    fields = (wire.EMIT, __version__.encode(), INSTALLATION.encode(), os.fsencode(served.root), served.proof())
    header = wire.header(fields, [b"PreAbilityCall"], variables)

    def call(number: int) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(header)
            assert read_frame(connection)[:1] == wire.ACCEPTED
            connection.sendall(wire.data_frame((ALLOWED, DENIED)[number % 2]))
            while (message := read_frame(connection))[:1] == wire.COMMITTED:
                pass
            assert message[5] == (0, 2)[number % 2]

    def memory() -> int:
        status = served.status()
        assert status
        assert status.threads <= 4
        return status.memory_bytes

    count = at_length(1_000, 100_000)
    for number in range(count // 4):
        call(number)
    early = memory()
    for number in range(count):
        call(number)
    assert memory() - early < 16 * MIB  # a leak of 200 bytes per call in the long form, of 16 KiB in the short one
    assert served.answered() == count + count // 4
    descriptors = len(os.listdir(f"/proc/{served.servers()[0].pid}/fd"))
    assert descriptors < 40
