"""How long the logs, prompts and reports of earlier runs stay."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from samuel.agents.process_files import is_run_name
from samuel.files.inside import refuse_links
from samuel.history.state_files import OF_RUNS

MOST_RUNS = 200
MOST_BYTES = 4 * 1024 * 1024 * 1024


def remove_old_logs(
    state: Path, run_id: str, most_runs: int = MOST_RUNS, most_bytes: int = MOST_BYTES
) -> list[str]:
    """Remove the files of the oldest runs, never those of `run_id`, down to both limits; the ids of these runs."""
    refuse_links(state, *OF_RUNS)
    sizes: dict[str, int] = {}
    for folder in OF_RUNS:
        for name in _runs(state / folder):
            sizes[name] = sizes.get(name, 0) + _size(state / folder / name)
    newest_first = sorted(sizes, key=lambda name: (name == run_id, name), reverse=True)
    removed, total = [], 0
    for number, name in enumerate(newest_first):
        total += sizes[name]
        if name != run_id and (number >= most_runs or total > most_bytes):
            removed.append(name)
            for folder in OF_RUNS:
                shutil.rmtree(state / folder / name, ignore_errors=True)  # follows no link
    return removed


def _runs(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [
                entry.name for entry in entries if is_run_name(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except FileNotFoundError:
        return []


def _size(directory: Path) -> int:
    with os.scandir(directory) as entries:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
