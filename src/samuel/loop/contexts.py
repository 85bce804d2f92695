"""The pre-computed context of an iteration: asked for, written to disk, shown to the prompt.

The loop writes what the handlers composed, never a handler. A context that failed is left out, never stale.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path
from typing import Any

from samuel.events import ContextExtra, ContextProgress, ContextSnapshot, ContextTask, LoopEvent
from samuel.files import atomic
from samuel.loop.run import Run
from samuel.loop.steps import Steps
from samuel.loop.workplace import Workplace
from samuel.tasks.task import Task

# event's result key, file, name in the template's State
SNAPSHOT = ("toon_blob", "project-snapshot.toon", "Snapshot")
PROGRESS = ("md_blob", "progress-context.md", "Progress")
TASK = ("toon_blob", "task-context.toon", "Task")


class Contexts:
    def __init__(self, place: Workplace, steps: Steps, run: Run, task: Task | None) -> None:
        self._place = place
        self._steps = steps
        self._run = run
        self._task = task.plain() if task else {}

    def generate(self) -> dict[str, Any]:
        """All four, as the names the template sees."""
        state: dict[str, Any] = {}
        state |= self._blob(ContextSnapshot(), *SNAPSHOT)
        state |= self._blob(ContextProgress(progress_path=str(self._place.progress)), *PROGRESS)
        state |= self._blob(ContextTask(task=self._task), *TASK)
        state["Extras"] = self._extras()
        return state

    def _blob(self, event: LoopEvent, key: str, file: str, name: str) -> dict[str, str]:
        blob = str(self._steps.fire(self._run, event).result.get(key) or "")
        if not self._steps.dry_run:
            self._keep(self._place.state / file, blob)
        return {name: blob}

    def _extras(self) -> list[dict[str, str]]:
        fired = self._steps.fire(self._run, ContextExtra(task=self._task))
        extras = [{"name": extra["name"], "content": extra["content"]} for extra in fired.result.get("extras", ())]
        if not self._steps.dry_run:
            directory = self._place.state / "extra"
            if directory.is_symlink():  # somebody's, and not a directory of ours
                directory.unlink()
            shutil.rmtree(directory, ignore_errors=True)
            for name, extra in zip(_file_names(extra["name"] for extra in extras), extras, strict=True):
                directory.mkdir(exist_ok=True)
                self._keep(directory / name, extra["content"])
        return extras

    def _keep(self, path: Path, text: str) -> None:
        if text:
            atomic.write_text(path, text, durable=False, disk=self._place.disk)
        else:
            path.unlink(missing_ok=True)


def _file_names(names: Iterable[str]) -> list[str]:
    """A file for each: two handlers may have chosen the same name, and neither text replaces the other."""
    files: list[str] = []
    for wanted in map(_file_name, names):
        stem, suffix = os.path.splitext(wanted)
        candidates = chain([wanted], (f"{stem}-{number}{suffix}" for number in count(2)))
        files.append(next(name for name in candidates if name not in files))
    return files


def _file_name(name: str) -> str:
    """A handler's name for its text, as a file that stays in its directory."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:100] or "extra"
