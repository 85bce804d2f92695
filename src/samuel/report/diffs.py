"""What tasks changed, as patches from git: whole for `run show --diff`, and cut to what a report can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.base.errors import SamuelError
from samuel.base.printable import shell_word
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import work_ref
from samuel.history.attempt_record import AttemptRecord
from samuel.report.model import RunReport, TaskReport
from samuel.tasks.task import Task

LONGEST = 16_000
"""Characters of the diff of one task in a report."""
LONGEST_IN_ALL = 1_000_000
MOST_LINES = 20_000
"""Changed lines of a task above which its diff is not even asked for."""

COMMIT = re.compile(r"[0-9a-f]{4,64}")
REF = re.compile(r"refs/samuel/[A-Za-z0-9_./%-]{1,300}")
_OPTIONS = ("--no-color", "--no-ext-diff", "--no-textconv", "--patch")


def patch(git: Git, source: str, work: str = "", *, summary: bool = True) -> str:
    """The change that a commit, or the ref of an attempt, made. Raises SamuelError if git has it no more.

    `work` is the ref of the work of a task in a lane: a landing of several tasks is one commit. With `summary`, it
    comes after the commit's message and the list of files.
    """
    options = (*_OPTIONS, "--stat") if summary else _OPTIONS
    header = () if summary else ("--format=",)
    try:
        first, *others = git.run("rev-list", "--parents", "--max-count=1", source).decode().split()[1:] or [""]
        if work and len(others) > 1:
            text = git.run("diff", *options, f"{first}...{work}", "--")
        else:
            text = git.run("show", "--root", "-m", "--first-parent", *header, *options, source, "--")
    except GitFailed as error:
        raise SamuelError(f"git cannot show `{source}`: {error.message}") from None
    return text.decode("utf-8", "replace")


class TaskChange(NamedTuple):
    """What a task changed."""

    source: str
    """The commit, or the ref of an attempt."""
    patch: str


def change_of_task(git: Git, id: str, row: Task | None, attempts: Sequence[AttemptRecord]) -> TaskChange:
    """The commit of a task, or its last attempt that was kept. Raises SamuelError if there is neither.

    `row` is the task in the task list, if it is there; `attempts` are those at it, the oldest first.
    """
    commit = (row.commit_sha if row else "") or (attempts[-1].commit if attempts else "")
    ref = next((attempt.ref for attempt in reversed(attempts) if attempt.ref), "")
    completed = row is not None and row.status == "completed"
    source = commit if completed or not ref else ref
    if not (COMMIT.fullmatch(source) or REF.fullmatch(source)):
        hint = "`commit = true` in samuel.toml makes a commit for each task"
        if completed and REF.fullmatch(ref):
            hint = f"`git show {shell_word(ref)}` shows its last failed attempt; {hint}"
        what = "was completed without a commit" if completed else "has no commit, and no attempt of it was kept"
        raise SamuelError(f"task `{id}` {what}", hint)
    return TaskChange(source, patch(git, source, work_of(attempts) if source == commit else ""))


def work_of(attempts: Iterable[AttemptRecord]) -> str:
    """The ref of the work that completed a task in a lane; "" if it was completed without lanes."""
    landed = next((attempt for attempt in reversed([*attempts]) if attempt.commit), None)
    if landed is None or landed.lane is UNSET:
        return ""
    return work_ref(landed.run_id, landed.task_id, landed.attempt)


def with_diffs(report: RunReport, git: Git) -> RunReport:
    """The report with what each of its tasks changed, as far as git has it and there is room."""
    if not git.available or not git.is_repository:
        return report
    left, tasks = LONGEST_IN_ALL, []
    for task in report.tasks:
        if left > 0:
            task = _with_diff(task, git)
            left -= len(task.diff)
        tasks.append(task)
    return replace(report, tasks=tuple(tasks))


def _with_diff(task: TaskReport, git: Git) -> TaskReport:
    records = [attempt.record for attempt in task.attempts]
    refs = [record.ref for record in records if record.ref]
    source = task.commit or (refs[-1] if refs else "")
    if not (COMMIT.fullmatch(source) or REF.fullmatch(source)) or task.added + task.removed > MOST_LINES:
        return task
    with suppress(SamuelError, OSError):
        text = patch(git, source, work_of(records), summary=False).strip("\n")
        beginning = text if len(text) <= LONGEST else text[:LONGEST].rpartition("\n")[0]
        return replace(task, diff=beginning, diff_cut=len(beginning) < len(text))
    return task
