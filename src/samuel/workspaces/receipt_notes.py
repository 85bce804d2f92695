"""Writing the receipts of commits, after they were made or landed. Idempotent: a killed run does it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from samuel.attempt.workplace import Workplace
from samuel.git.git import GitFailed
from samuel.history.run import AttemptUnderWay, Settlement
from samuel.receipts.notes import ReceiptNotes


def write_receipt(place: Workplace, commit: str, settlement: Settlement) -> None:
    """Give the commit of a task its receipt, if it has the digest of one: a commit of an agent has none."""
    if settlement.record is not None:
        _write(place, commit, settlement.record.predicate)


def write_receipts_of_landing(
    place: Workplace, landed: Sequence[AttemptUnderWay], commit: str, predicate: Mapping[str, Any]
) -> None:
    """Give the commits of a landing their receipts: those of the tasks, and the merge of them if there is one."""
    for record in landed:
        if record.result is not None and record.result.work:
            write_receipt(place, record.result.work, record.result.settlement)
    _write(place, commit, dict(predicate))


def _write(place: Workplace, commit: str, predicate: dict[str, Any]) -> None:
    if not predicate:
        return
    try:
        ReceiptNotes(place.git).write(commit, predicate)
    except GitFailed as error:  # it can be printed and added later: `samuel run receipt` has it
        place.warn(f"the commit {commit[:12]} has no receipt in its notes: {error.message}")
