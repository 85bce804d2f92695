"""Whether this process is part of a run or a session; some commands are refused there."""

from __future__ import annotations

import os

from samuel.base import paths
from samuel.base.errors import SamuelError


def inside_a_run() -> str:
    """The id of the run or session that this process is part of; "" outside of one.

    By its variables, or by its parent processes: a process without the variables is still below the run.
    """
    from samuel.process.live import enclosing  # msgspec, which `--help` does without

    return os.environ.get("SAMUEL_RUN_ID", "") or enclosing(paths.User.from_environment().live)


def refuse_inside_a_run(what: str = "what is trusted") -> None:
    """Raise SamuelError inside a run: what runs there must not decide what it is judged by."""
    if run := inside_a_run():
        raise SamuelError(
            f"this is inside the run `{run}`, which cannot change {what}",
            "end the run first, or use another terminal",
        )
