"""Errors of the system that name the file: write, fsync and close know only its number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def errors_naming(path: Path | str, *, instead_of: str | None = None) -> Iterator[None]:
    """Let an OSError that names no file, or the temporary one that it is written to, name `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, instead_of):
            error.filename = str(path)
        raise
