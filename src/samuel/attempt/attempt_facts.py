"""What an iteration learns about its attempt, step by step; in the end it becomes the attempt's record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, UnsetType

from samuel.bridges.coverage import Coverage
from samuel.clients.adapter.ending import ENDED_WELL, AgentEnding
from samuel.events.endings import IterationOutcome
from samuel.history.attempt_record import (
    MAX_NAMED,
    AcceptanceRecord,
    AttemptRecord,
    ChangedFile,
    CheckRecord,
    EvidenceRecord,
    ReviewRecord,
)
from samuel.history.run import Run
from samuel.tasks.grade import Grade
from samuel.tasks.task import Task


@dataclass
class AttemptFacts:
    started_at: float
    lane: int | UnsetType = UNSET
    agent_ran: bool = False
    exit_code: int | None = None
    agent_ms: float | UnsetType = UNSET  # how long the agent ran
    ending: AgentEnding = ENDED_WELL
    log: str = ""  # the path of the agent's output, below the project's root
    usage: dict[str, Any] = field(default_factory=dict)
    coverage: Coverage | None = None
    changed: list[str] = field(default_factory=list)  # paths, by this agent
    changed_files: tuple[ChangedFile, ...] = ()  # against the verified tree
    checks: list[CheckRecord] = field(default_factory=list)
    check_files: tuple[str, ...] = ()
    not_owned: tuple[str, ...] = ()  # those of the check files that its task does not own
    lost_tests: tuple[str, ...] = ()
    still_red: tuple[str, ...] = ()
    decided: str = ""  # the status that the agent gave its task: skipped or blocked
    grade: Grade = ""
    evidence: EvidenceRecord | None = None
    acceptance: AcceptanceRecord | None = None
    review: ReviewRecord | None = None
    contested: tuple[str, ...] = ()
    ref: str = ""
    notes: tuple[str, ...] = ()  # what was put back of the repository

    def record(
        self, run: Run, task: Task | None, outcome: IterationOutcome, why: str, ended_at: float, new_tasks: int
    ) -> AttemptRecord:
        return AttemptRecord(
            run_id=run.run_id,
            iteration=run.iteration,
            mode=run.mode,
            task_id=task.id if task else "",
            title=task.title if task else "",
            attempt=task.attempts + 1 if task else 1,
            agent=run.agent,
            started_at=self.started_at,
            ended_at=ended_at,
            outcome=outcome,
            why=why,
            exit_code=self.exit_code,
            ending=self.ending,
            usage=self.usage,
            coverage=self.coverage,
            checks=tuple(self.checks),
            changed_files=self.changed_files,
            check_files=self.check_files,
            lost_tests=self.lost_tests,
            still_red=self.still_red[:MAX_NAMED],
            grade=self.grade,
            evidence=self.evidence,
            acceptance=self.acceptance,
            review=self.review,
            contested=self.contested[:MAX_NAMED],
            decided=self.decided,
            ref=self.ref,
            log=self.log,
            notes=self.notes,
            new_tasks=new_tasks,
            lane=self.lane,
            guidance=run.guidance,
        )
