"""What an attempt left in the state directory of its lane, taken over by that of the project."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samuel.agents.process_files import LOGS, PROMPTS, label
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.paths import Project
from samuel.files.inside import make_dirs_inside, open_inside, read_inside
from samuel.journal.writer import oldest_first

USAGE_LOG = "agent.jsonl"
LIMIT = 64 * 1024 * 1024


def collect(
    lane: Workplace, project: Workplace, journal: Path, run_id: str, iteration: int, progress_size: int
) -> None:
    """Move the logs and the prompt of an iteration, and append its notes, usage and journal to the project's."""
    name = label(iteration, "", run_id)
    for folder in (LOGS, PROMPTS):
        _move(lane.state / folder, project.state / folder, Path(name))
    _append_notes(lane, project, progress_size)
    with suppress(OSError, SamuelError):
        project.append(project.logs / USAGE_LOG, read_inside(lane.logs, USAGE_LOG, limit=LIMIT))
        (lane.logs / USAGE_LOG).unlink()
    _collect_journal(Project(lane.root).journal, journal)


@contextmanager
def notes_collected(lane: Workplace, project: Workplace) -> Iterator[None]:
    """Append what is noted in progress.md of the lane meanwhile to that of the project."""
    size = lane.progress.stat().st_size if lane.progress.exists() else 0
    try:
        yield
    finally:
        _append_notes(lane, project, size)


def _append_notes(lane: Workplace, project: Workplace, size: int) -> None:
    with suppress(OSError, SamuelError):
        notes = read_inside(lane.state, lane.progress.name, limit=LIMIT)[size:]
        if notes.strip():
            project.append(project.progress, notes if notes.endswith(b"\n") else notes + b"\n")


def _move(source: Path, target: Path, name: Path) -> None:
    with suppress(OSError):
        for entry in sorted((source / name.parent).iterdir()):
            if entry.name.startswith(name.name) and entry.is_file() and not entry.is_symlink():
                os.close(make_dirs_inside(target.parent, str(Path(target.name) / name.parent), mode=0o755))
                shutil.move(entry, target / name.parent / entry.name)


def _collect_journal(source: Path, target: Path) -> None:
    """Append what the hooks of the lane's agent wrote: their processes have ended."""
    if not source.is_dir() or source.is_symlink():
        return
    for segment in oldest_first(str(source)):
        with suppress(OSError, SamuelError):
            append_journal(target, read_inside(source, segment, limit=LIMIT))
            (source / segment).unlink()


def append_journal(journal: Path, content: bytes) -> None:
    """Append the whole lines of a journal to the newest segment of another one."""
    names = oldest_first(str(journal)) if journal.is_dir() else []
    whole = content[: content.rfind(b"\n") + 1]
    if whole and names:
        fd = open_inside(journal, names[-1], flags=os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, whole)
        finally:
            os.close(fd)
