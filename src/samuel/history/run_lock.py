"""The locks of a project's runs, for what must not happen while one is under way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from samuel.files.lock import held

NAME = "run.lock"


@contextmanager
def no_run(state: Path, record: Path | None, note: str) -> Iterator[None]:
    """Let no run begin meanwhile. Raises Locked while one is under way.

    `state` and `record` are the directories in which a run holds a lock; `note` says who has it now.
    """
    with ExitStack() as locks:
        for directory in (state, record):
            if directory is not None and directory.is_dir():
                locks.enter_context(held(directory / NAME, note=note))
        yield
