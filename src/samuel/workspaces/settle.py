"""Carrying out a settlement in the user's own work tree: a commit if `commit` is set, or the work put away.

Idempotent: applying the same settlement again changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.attempt.evidence import sealed_for_commit
from samuel.attempt.run_files import RunFiles
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.confine import sandbox as sandboxes
from samuel.git.commit import commit_paths, forget
from samuel.git.git import GitFailed
from samuel.git.kept_refs import landed_ref
from samuel.history.attempts import ACCEPTANCE, DISCOVERY
from samuel.history.notices import WorkPutAway
from samuel.history.run import Run, Settlement
from samuel.receipts.statement import trailer
from samuel.trust.commands import commit_hooks
from samuel.workspaces.receipt_notes import write_receipt

TRAILER = "Samuel-Iteration"
GRADE_TRAILER = "Samuel-Grade"


class AppliedSettlement(NamedTuple):
    """Where the work of a settled attempt is."""

    commit: str = ""
    ref: str = ""
    """Where a failed attempt is kept."""
    commit_error: str = ""
    """Why the work has no commit, though it should."""


def apply(place: Workplace, files: RunFiles, run: Run, settlement: Settlement) -> AppliedSettlement:
    """Carry out a settlement that is saved. The state of the attempts changes with it."""
    sha, commit_error = "", ""
    marked = SourceMarks(place).write(settlement.task_id) if settlement.row.status == "completed" else ()
    if settlement.commit is not None:
        with sealed_for_commit(place, files.tasks, run):
            own = [path for path in marked if not files.attempts.is_persons(path) and path not in run.dirty]
            sha, commit_error = _commit(place, run, settlement, own)
        if sha:
            _hold(files, run, settlement.task_id, sha)
            write_receipt(place, sha, settlement)
    ref = _settle_tree(place, files, settlement, marked)
    return AppliedSettlement(sha, ref, commit_error)


def _settle_tree(place: Workplace, files: RunFiles, settlement: Settlement, marked: Sequence[str]) -> str:
    """Make the work tree the verified one, or keep the attempt in a ref; gives the ref."""
    name, attempts = settlement.task_id or DISCOVERY, files.attempts
    try:
        match settlement.tree:
            case "complete":
                # Nothing but a hook of the commit, or a mark, could have changed a file since the checks.
                attempts.complete(name, None if place.settings.commit_hooks or marked else (), marked)
            case "drop":
                for problem in attempts.drop(ACCEPTANCE):
                    place.warn(problem)
            case "keep":
                return attempts.keep(name, settlement.attempt)
            case "put_away":
                put_away = attempts.put_away(name, settlement.attempt, ())
                if put_away.ref:
                    place.watch(WorkPutAway(settlement.task_id, put_away.ref, put_away.restored))
                for problem in put_away.problems:
                    place.warn(problem)
                return put_away.ref
    except GitFailed as error:
        place.warn(f"what the attempt at {name} changed stays in the work tree: {error.message}")
    return ""


def _commit(place: Workplace, run: Run, settlement: Settlement, marked: Sequence[str]) -> tuple[str, str]:
    """Commit the work on a task; the sha, or "" and why there is none. What fails does not cost the task."""
    try:
        return commit_task(place, run, settlement, marked), ""
    except SamuelError as error:
        why = f"the commit of task {settlement.task_id} failed: {error.message}"
        place.warn(why)
        return "", why


def _hold(files: RunFiles, run: Run, task_id: str, sha: str) -> None:
    """Let a ref hold the commit of a completed task, whatever becomes of the branch."""
    if files.trees is not None:
        with suppress(GitFailed):
            files.trees.refs.set_ref(landed_ref(run.run_id, task_id), sha)


def commit_task(
    place: Workplace, run: Run, settlement: Settlement, marked: Sequence[str] = (), *, again: bool = True
) -> str:
    """Commit what the checks passed on, and nothing that was dirty before the run; the sha, or "" for none.

    `marked` are the files in which the task is marked as completed. `again`: a run that was killed may have made
    the same commit already. Raises SamuelError.
    """
    mark = f"{TRAILER}: {run.run_id}/{run.iteration}"
    if again:
        head, body = place.git.head_message()
        if mark in body:
            return head
    to_commit = {*(settlement.commit or ()), *marked}
    forget(place.git, to_commit)  # an agent can have told git that they did not change
    left = [entry for entry in place.git.status().entries if entry.path in to_commit]
    if not left:
        return ""  # the agent has committed everything itself
    title = next((task.title for task in place.tasks.load() if task.id == settlement.task_id), "")
    grade = settlement.row.grade
    lines = [mark, *([f"{GRADE_TRAILER}: {grade}"] if grade else ())]
    if settlement.record and settlement.record.predicate:
        lines.append(trailer(settlement.record.predicate))
    message = f"{settlement.task_id} {title}\n\n" + "\n".join(lines)
    walled = place.settings.sandbox.kind != sandboxes.HOST
    return commit_paths(
        place.git,
        # What is staged already may be gone from the work tree, and git would not find it there.
        [entry.path for entry in left if entry.unstaged != "."],
        [entry.path for entry in left],
        message,
        hooks=_hooks(place),
        writable=(place.root,) if walled else (),
    )


def _hooks(place: Workplace) -> Path | None:
    """The directory of git hooks to run for a commit: only if samuel.toml asks for them and they are trusted."""
    text = commit_hooks(place.settings, place.git)
    if text is None:
        return None
    if why := place.refusal(text):
        place.warn(f"the commit runs no hooks: {why}")
        return None
    return place.git.hooks_directory()
