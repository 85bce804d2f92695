"""The proof of a caller that landlock does not confine it, which the kernel does not report.

A process that landlock confines cannot look into one that is outside of its rules, whatever these are about. So
the server has a file with a random name under a fixed number, and a caller has to tell what the link to it in
/proc says. Elsewhere than on Linux there is no landlock, and no proof.

This module is imported by a client that has to be fast: of the standard library it uses only `os` and `sys`.
"""

from __future__ import annotations

import os
import sys

NUMBER = 63  # of the server's file: above those that it opens first, below every limit that it can work with


def offer() -> bytes:
    """Open the file in this process, which is the server; what callers have to tell. OSError if that fails."""
    if sys.platform != "linux":
        return b""
    import fcntl  # only the server needs it

    file = os.memfd_create(os.urandom(16).hex())
    try:
        if fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, NUMBER) != NUMBER:
            raise OSError(f"its file {NUMBER} is in use")
    finally:
        os.close(file)
    return proof_about(os.getpid())


def proof_about(server: int) -> bytes:
    """What the caller of a server, a process id, has to tell it; b"" if this process may not look."""
    try:
        return os.readlink(b"/proc/%d/fd/%d" % (server, NUMBER))
    except OSError:
        return b""
