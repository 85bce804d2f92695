"""Writing the history of one run. A history that cannot be written costs a warning, not the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from samuel.agents.find_agent import find
from samuel.attempt.run_files import RunFiles
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.bridges.guards import LostGuard
from samuel.checks.memory import CheckMemory
from samuel.checks.verdict import record_of
from samuel.files.explained import reason
from samuel.history.attempt_record import AttemptRecord, RunRecord
from samuel.history.denials import denials_by_session
from samuel.history.history import History
from samuel.history.run import Run, Settlement, own_branch_of
from samuel.history.run_logs import remove_old_logs
from samuel.report.files import write_reports
from samuel.report.lost_tests import lost_tests
from samuel.workspaces.settle import AppliedSettlement


class RunHistoryWriter:
    def __init__(self, place: Workplace) -> None:
        self._place = place
        self.history = History.of(place.state, place.record, place.disk)

    def begin(self, run: Run, files: RunFiles) -> None:
        """Record that the run began, or what its baseline was; forget what is left of runs long ago."""
        with self._optional():
            self.history.begin(self._record(run, files.checks))
            for run_id in remove_old_logs(self._place.state, run.run_id):
                if files.trees is not None:
                    files.trees.refs.drop(run_id)

    def add(self, settlement: Settlement, applied: AppliedSettlement) -> AttemptRecord | None:
        """Record an iteration."""
        if settlement.record is None:
            return None
        record = replace(
            settlement.record, commit=applied.commit, ref=applied.ref, commit_error=applied.commit_error
        )
        with self._optional():
            self.history.add(record)
        return record

    def end(self, run: Run, checks: CheckMemory) -> str:
        """Record how the run ended and write its report; its path below the project's root, "" for none."""
        with self._optional():
            self._add_denials(run)
            self.history.end(self._record(run, checks))
            directory = write_reports(self._place, run.run_id)
            if directory is not None:
                return str((directory / "report.html").relative_to(self._place.root))
        return ""

    def lost_tests(self, run_id: str) -> dict[str, tuple[str, ...]]:
        """By id of a task that this run completed: tests that ran before it and do not run since."""
        try:
            return lost_tests(self.history.load(run_id).attempts)
        except (OSError, SamuelError):  # a warning was given when it could not be written
            return {}

    def _add_denials(self, run: Run) -> None:
        """Add to each attempt what hooks denied its agent: the calls of an agent are in the journal alone."""
        denials = denials_by_session(self._place.root, run.started_at)
        for attempt in self.history.load(run.run_id).attempts if denials else ():
            if denied := denials.get(replace(run, iteration=attempt.iteration).session_id):
                self.history.add(replace(attempt, denials=denied.enforced, would_denials=denied.observed))

    def _record(self, run: Run, checks: CheckMemory) -> RunRecord:
        branch = own_branch_of(run)
        return RunRecord(
            run_id=run.run_id,
            methodology=run.methodology,
            agents=tuple(run.agents),
            started_at=run.started_at,
            ended_at=self._place.clock.now() if run.over else None,
            exit_reason=run.exit_reason,
            exit_message=run.exit_message,
            usage=run.usage,
            baseline=tuple(record_of(check) for check in checks.baseline),
            unguarded=tuple(str(guard) for name in run.agents for guard in self._lost_guards(name)),
            branch=branch.name if branch else "",
            from_branch=branch.from_branch if branch else "",
        )

    def _lost_guards(self, agent: str) -> list[LostGuard]:
        place = self._place
        return place.tool_hooks.lost(find(agent, place.agents), place.settings.sandbox.kind)

    @contextmanager
    def _optional(self) -> Iterator[None]:
        try:
            yield
        except (OSError, SamuelError) as error:
            self._place.warn(f"the history of this run is incomplete: {reason(error)}")
