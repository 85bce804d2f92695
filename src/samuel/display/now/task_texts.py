"""What a view shows of one task on demand: what its agent wrote, and what it changed."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from samuel.agents.process_files import errors_path, log_path
from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.base.wording import block
from samuel.clients.adapter.stream import PlainStream, ReadableLog
from samuel.display.agent_log import CHUNK, log_chunks, stream_of
from samuel.display.now.watcher import RunWatcher
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.history.attempt_record import AttemptRecord
from samuel.history.run import AttemptUnderWay
from samuel.process import environment
from samuel.report.diffs import change_of_task
from samuel.workspaces.lanes.listing import lanes_directory

MOST_LINES = 2000
LONGEST_ERRORS = 4000  # characters


class TaskText(NamedTuple):
    title: str
    lines: Sequence[str]
    """Safe to print."""


def agent_output(watcher: RunWatcher, task_id: str) -> TaskText:
    """The end of what the agent of the current or the last attempt at a task wrote. Raises SamuelError."""
    under_way = _under_way(watcher, task_id)
    record = under_way or _last_attempt(watcher, task_id)
    if record is None:
        raise SamuelError(f"no agent has worked on task `{task_id}` in this run")
    assert watcher.run is not None
    root, state = watcher.project.root, watcher.project.state
    path = log_path(state, watcher.run.run_id, record.iteration, "output")
    if under_way is not None:  # an agent in a lane writes there; its log comes to the project's when it has ended
        lane_state = _work_tree(watcher, under_way) / state.relative_to(root)
        lane_path = lane_state / path.relative_to(state)
        state, path = (lane_state, lane_path) if lane_path.is_file() else (state, path)
    lines: deque[str] = deque(maxlen=MOST_LINES)
    log = ReadableLog(stream_of(root, record.agent))
    for chunk in log_chunks(state, path, -CHUNK):
        lines.extend(log.feed(chunk))
    lines.extend(log.close())
    errors = ReadableLog(PlainStream)
    error_lines = [
        line for chunk in log_chunks(state, errors_path(path), -LONGEST_ERRORS) for line in errors.feed(chunk)
    ]
    error_lines += errors.close()
    if error_lines:
        lines.extend(("--- stderr ---", *error_lines))
    title = f"output of {record.agent}, task {task_id}, iteration {record.iteration}"
    return TaskText(title, _printable(lines) or ["nothing is written yet"])


def task_diff(watcher: RunWatcher, task_id: str) -> TaskText:
    """What a task changed: so far, if an attempt at it is under way on this machine. Raises SamuelError."""
    root = watcher.project.root
    git = Git(root, environment.clean())
    if not git.is_repository:
        raise SamuelError(f"`{root}` is not a git repository, so that nothing can be compared")
    record = _under_way(watcher, task_id)
    if record is not None and record.result is None:
        if record.place:
            raise SamuelError(
                f"task `{task_id}` is worked on at {record.machine or record.place}: no diff before it ends"
            )
        return TaskText(f"task {task_id}, so far", _lines(_diff_so_far(watcher, record)))
    row = next((task for task in watcher.tasks if task.id == task_id), None)
    change = change_of_task(git, task_id, row, _attempts(watcher, task_id))
    return TaskText(f"task {task_id}, {change.source}", _lines(change.patch))


def _diff_so_far(watcher: RunWatcher, record: AttemptUnderWay) -> str:
    """The difference between the tree that an attempt began with and its work tree as it is now."""
    assert watcher.run is not None
    root = _work_tree(watcher, record)
    start = (watcher.run.tree if record.lane is UNSET else record.tree).start
    if not start or not root.is_dir():
        return ""
    with tempfile.TemporaryDirectory(prefix="samuel-diff-") as scratch:  # for an index of this comparison alone
        trees = Trees(Git(root, environment.clean()), Path(scratch))
        return trees.diff(start, trees.snapshot()).decode("utf-8", "replace")


def _work_tree(watcher: RunWatcher, record: AttemptUnderWay) -> Path:
    """The directory of the project that an attempt on this machine works in."""
    root, state = watcher.project.root, watcher.project.state
    if record.lane is UNSET or record.place:
        return root
    prefix = os.fsdecode(Git(root, environment.clean()).location().prefix)
    return lanes_directory(paths.User.from_environment(), root, state) / str(record.lane) / prefix


def _under_way(watcher: RunWatcher, task_id: str) -> AttemptUnderWay | None:
    return watcher.run.active.get(task_id) if watcher.run and not watcher.run.over else None


def _attempts(watcher: RunWatcher, task_id: str) -> list[AttemptRecord]:
    attempts = watcher.history.attempts if watcher.history else ()
    return [attempt for attempt in attempts if attempt.task_id == task_id]


def _last_attempt(watcher: RunWatcher, task_id: str) -> AttemptRecord | None:
    return next(iter(reversed(_attempts(watcher, task_id))), None)


def _lines(patch: str) -> list[str]:
    return _printable(patch.splitlines()) or ["nothing is changed"]


def _printable(lines: Sequence[str] | deque[str]) -> list[str]:
    return [block(line).expandtabs() for line in lines]
