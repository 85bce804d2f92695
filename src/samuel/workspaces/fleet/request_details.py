"""What a request to a machine is made of, beside the task itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.files.regular import read_regular
from samuel.prompts import background
from samuel.tasks.task import Task

MOST_TEXT = 256 * 1024  # characters of what was learned so far


def resources_of(agent: str) -> dict[str, float]:
    """Resources an attempt requests. Checks request them too, so a missing one is named before the first task."""
    return {"agent": 1.0, agent: 1.0}


def checks_of(tasks: Iterable[Task]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The checks that these tasks bring along: a machine runs them only if its owner agreed."""
    return tuple((task.id, tuple(task.checks)) for task in tasks if task.checks)


def saved_tasks(project: Workplace) -> Sequence[Task]:
    """The tasks in the file of the project; none if it has none that can be read."""
    try:
        return project.tasks.load()
    except SamuelError:
        return ()


def texts_so_far(project: Workplace) -> dict[str, str]:
    """What was learned so far, for the prompt."""
    texts = {}
    for name in (background.FILE, background.DOCUMENTS, project.progress.name):
        with suppress(OSError):
            texts[name] = read_regular(project.state / name).decode("utf-8", "replace")[-MOST_TEXT:]
    if documents := background.documents_within(project.state, MOST_TEXT):
        texts[background.DOCUMENTS] = documents
    return texts
