"""Files without a name, which only the processes that have their descriptor can read."""

from __future__ import annotations

import os


def unnamed_file(purpose: str) -> int:
    """A descriptor of a new file, which other programs do not inherit. In memory, where the system can do that."""
    if create := getattr(os, "memfd_create", None):
        fd: int = create(purpose)
        return fd
    import tempfile  # slow to import, and needed on few systems

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
