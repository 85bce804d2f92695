"""Moving the state of a project's only methodology into a directory of its own when a second one is added."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from samuel.files.lock import held
from samuel.history.run_file import RunFile
from samuel.tasks.store import WAIT

SHARED = ("journal", "plugins", "quarantine", "state.lock", "run.lock", "move.lock", ".gitignore")


def move_state(run: Path, methodology: str, names: tuple[str, ...], record: Callable[[Path], Path]) -> list[str]:
    """Move the files in `.samuel/run/` itself into the directory of the methodology they belong to; their names.

    That is the methodology of the last run, or before the first run the given one. A run in progress holds the
    lock, so nothing is moved under it. Files move in the order of their names, so `run.json` goes after `prd.toon`
    and all else that cannot be made again. A move that was killed is completed by the next one.

    `names` are the project's methodologies. `record` gives the directory of a state directory's record, which is
    moved too.
    """
    if not (run / "prd.toon").exists() and not (run / "run.json").exists():
        return []
    with held(run / "run.lock", note="moving state"), held(run / "state.lock", wait=WAIT, note="moving state"):
        last = RunFile(run, record(run)).load()
        # An agent can write run.json, so only the name of a configured methodology counts.
        target = run / (last.methodology if last and last.methodology in names else methodology)
        target.mkdir(exist_ok=True)
        if record(run).is_dir() and not record(target).exists():
            os.replace(record(run), record(target))
        moved = []
        for entry in sorted(run.iterdir()):
            if entry.name in SHARED or entry.name in names or entry.name.startswith(".samuel-"):
                continue
            os.replace(entry, target / entry.name)
            moved.append(entry.name)
        return moved
