"""A second methodology gives each its own directory: state that was there before moves into the first one's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from samuel.files.lock import held
from samuel.loop.run import RunFile
from samuel.tasks.store import WAIT

SHARED = ("journal", "plugins", "quarantine", "state.lock", "run.lock", "move.lock", ".gitignore")


def move_state(run: Path, methodology: str, known: tuple[str, ...], record: Callable[[Path], Path]) -> list[str]:
    """Move what lies in `.samuel/run/` itself into the directory of the methodology it belongs to; what was moved.

    That is the last run's, or before the first run the given one. A run in progress holds the lock, so nothing is
    moved under it. By name, so `run.json` goes after all that cannot be made again: a killed move goes on.

    `record` gives where the user's state has the record of a state directory: it moves along.
    """
    if not (run / "prd.toon").exists() and not (run / "run.json").exists():
        return []
    with held(run / "run.lock", note="moving state"), held(run / "state.lock", wait=WAIT, note="moving state"):
        last = RunFile(run, record(run)).load()
        # An agent can write run.json: a name that nobody configured leads nowhere.
        target = run / (last.methodology if last and last.methodology in known else methodology)
        target.mkdir(exist_ok=True)
        if record(run).is_dir() and not record(target).exists():
            os.replace(record(run), record(target))
        moved = []
        for entry in sorted(run.iterdir()):
            if entry.name in SHARED or entry.name in known or entry.name.startswith(".samuel-"):
                continue
            os.replace(entry, target / entry.name)
            moved.append(entry.name)
        return moved
