"""The receipts of attempts: from the notes of their commits, or made from what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from samuel.base.errors import SamuelError
from samuel.git.git import Git, GitFailed
from samuel.history.attempt_record import AttemptRecord
from samuel.receipts.canonical import digest_of
from samuel.receipts.notes import ReceiptNotes
from samuel.receipts.statement import statement, trailer_digests


def receipt_of(git: Git, attempts: Sequence[AttemptRecord], task_id: str) -> dict[str, Any]:
    """The receipt of a task: that of the last attempt which completed it. Raises SamuelError without one."""
    completed = [attempt for attempt in attempts if attempt.predicate]
    if not completed:
        raise SamuelError(
            f"task `{task_id}` has no receipt",
            "a run that completes it writes one, if the project is a git repository",
        )
    return _receipt(git, completed[-1])


def receipts_of(git: Git, attempts: Sequence[AttemptRecord]) -> list[dict[str, Any]]:
    """The receipts of the tasks that a run completed, in the order of its iterations."""
    return [_receipt(git, attempt) for attempt in attempts if attempt.predicate]


def _receipt(git: Git, attempt: AttemptRecord) -> dict[str, Any]:
    """The receipt for the commit with the digest of its predicate; for the tree alone if there is none."""
    notes, digest = ReceiptNotes(git), digest_of(attempt.predicate)
    for commit in _commits(git, attempt.commit):
        try:
            tree, message = notes.facts(commit)
        except GitFailed:  # it is gone, as after a rebase and `git gc`
            continue
        if trailer_digests(message) == [digest]:
            return statement(attempt.predicate, commit, tree)
    return statement(attempt.predicate, "", attempt.predicate["work"]["tree"]["gitTree"])


def _commits(git: Git, commit: str) -> list[str]:
    """The commit with which a task landed, and if that is a merge, those that it merged."""
    if not commit:
        return []
    try:
        return git.run("rev-list", "--no-walk=unsorted", commit, f"{commit}^@", "--").decode().split()
    except GitFailed:
        return []
