"""A predicate as it is read: what of it is compared with another run of the same checks."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.decoding import convert
from samuel.receipts.statement import ReceiptBroken


class RecordedResults(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    passed: int
    skipped: int
    failed: tuple[str, ...]
    names: tuple[str, ...]
    digest: dict[str, str]


class RecordedRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    command: str
    passed: bool
    exit_code: int | None
    flaky: bool
    known_failure: bool
    tests: RecordedResults | None
    task: str = ""
    """The task that a sealed check on a merge was for; "" anywhere else."""


class RecordedCorner(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    corner: str
    tree: dict[str, str]
    runs: tuple[RecordedRun, ...]


class RecordedTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    title: str
    kind: str
    checks: tuple[str, ...]


class RecordedEvidence(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    place: str
    fail_to_pass: tuple[str, ...]
    shown_to_fail: str


class RecordedWork(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    tree: dict[str, str]
    base: dict[str, str]
    not_owned: tuple[str, ...]
    not_committed: tuple[str, ...]


class RecordedFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    path: str
    digest: dict[str, str]


class RecordedAcceptance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    files: tuple[RecordedFile, ...]
    hidden: int


class RecordedProgram(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    digest: dict[str, str]


class LandedTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    task: str
    title: str
    grade: str


class RecordedPredicate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The predicate of a task, with `task`, `evidence` and `work`, or that of a landing, with `landed`."""

    samuel: str
    run: str = ""
    iteration: int = 0
    methodology: str
    grade: str = ""
    acceptance: RecordedAcceptance | None = None
    sealed: tuple[RecordedProgram, ...] = ()
    corners: tuple[RecordedCorner, ...]
    environment: dict[str, Any]
    task: RecordedTask | None = None
    evidence: RecordedEvidence | None = None
    work: RecordedWork | None = None
    landed: tuple[LandedTask, ...] = ()

    @property
    def title(self) -> str:
        """What the receipt is about, in a few words."""
        if self.task is not None:
            return f"{self.task.id} {self.task.title}"
        return f"landing of {', '.join(entry.task for entry in self.landed)}"


def recorded_predicate(predicate: dict[str, Any]) -> RecordedPredicate:
    """Raises ReceiptBroken for what no Samuel writes."""
    try:
        recorded = convert(predicate, RecordedPredicate)
    except msgspec.ValidationError as error:
        raise ReceiptBroken(f"its `predicate` cannot be read: {error}") from None
    if not recorded.landed and (recorded.task is None or recorded.evidence is None or recorded.work is None):
        raise ReceiptBroken("its `predicate` is neither that of a task nor that of a landing")
    return recorded
