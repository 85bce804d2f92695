"""Looks at a run from the files that it writes, as often as a view asks: each look reads only what is new.

It works the same for the run of this process, of another one, and of one that has ended. Nothing is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.agents.process_files import log_path
from samuel.base.errors import SamuelError
from samuel.base.paths import Project
from samuel.config.model import Budgets
from samuel.display.notice_lines import check_result
from samuel.display.now.board import LaneMoment, MomentBoard
from samuel.display.now.journal_tail import JournalTail
from samuel.display.now.model import (
    ActionNow,
    AttemptNow,
    BudgetNow,
    CheckNow,
    QuestionNow,
    RunNow,
    RunPhase,
    TaskNow,
)
from samuel.display.status_lines import waits_for
from samuel.files.tail import FileTail
from samuel.git.git import Git
from samuel.history.budgets import add_usage, cost, tokens
from samuel.history.cost_summary import CostSummary
from samuel.history.history import RunHistory
from samuel.history.history_tail import HistoryTail
from samuel.history.holds import holds_of
from samuel.history.notice_log import FILE as NOTICES
from samuel.history.notice_log import notice_in
from samuel.history.outcome_words import status_words
from samuel.history.own_branch import commit_of
from samuel.history.run import AttemptUnderWay, Run
from samuel.history.run_file import RunFile
from samuel.history.steering import Steering, SteeringFile
from samuel.process import environment
from samuel.process.live import is_live
from samuel.report.model import TONES, RunReport, build_report
from samuel.tasks.question import answer_command, is_about_landing, is_dispute
from samuel.tasks.queue import MET
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, Tasks

REST = 5
"""A report is made again after this many times as long as it took: 10,000 tasks must not keep a view busy."""


class WatchedProject(NamedTuple):
    """Where the run of a project writes what it does."""

    root: Path
    state: Path
    record: Path
    live: Path
    budgets: Budgets


class RunWatcher:
    def __init__(
        self,
        project: WatchedProject,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._project = project
        self._now = now
        self._monotonic = monotonic
        self._tasks_file = _Tasks(TaskStore(project.state, project.record))
        self._steering = SteeringFile(project.record)
        self._run_id = ""
        self.run: Run | None = None
        """The run as it was at the last look; None if there was none."""
        self._board = MomentBoard()
        self._notices = FileTail(project.record, NOTICES)
        self._history: HistoryTail | None = None
        self._journal: JournalTail | None = None
        self._report: RunReport | None = None
        self._report_due = True
        self._next_report = 0.0

    @property
    def project(self) -> WatchedProject:
        return self._project

    @property
    def tasks(self) -> Tasks:
        """The tasks as they were at the last look."""
        return self._tasks_file.tasks

    @property
    def history(self) -> RunHistory | None:
        """What was recorded of the run at the last look; None if nothing was."""
        return self._history.history if self._history else None

    def look_or_say_why(self) -> RunNow:
        """The run as it is now; for a view that goes on when the files cannot be read."""
        try:
            return self.look()
        except SamuelError as error:
            return replace(self._nothing(), problem=error.message)

    def look(self) -> RunNow:
        """The run as it is now. Raises SamuelError if the tasks or the run cannot be read."""
        tasks = self._tasks_file.load()
        self.run = RunFile(self._project.state, self._project.record).load()
        self._report_due |= self._tasks_file.changed
        steering = self._steering.load()
        moment = replace(self._nothing(), **self._tasks_file.fields, **_of_steering(steering, tasks))
        if self.run is None:
            return moment
        self._follow(self.run)
        return replace(moment, **self._of_run(self.run, tasks, moment))

    def _nothing(self) -> RunNow:
        return RunNow(at=self._now(), project=self._project.root.name, root=str(self._project.root))

    def _follow(self, run: Run) -> None:
        """Read what the run wrote since the last look."""
        if run.run_id != self._run_id:
            self._run_id, self._board, self._report, self._report_due = run.run_id, MomentBoard(), None, True
            self._notices = FileTail(self._project.record, NOTICES)
            self._history = HistoryTail(self._project.record, run.run_id)
            self._journal = JournalTail(self._project.root, Project(self._project.root).journal, run.run_id)
        assert self._history is not None
        assert self._journal is not None
        self._report_due |= self._history.look()
        self._journal.look()
        for line in self._notices.read().lines:
            if (notice := notice_in(line)) and notice[0].run == run.run_id:
                self._board.take(notice[1], notice[0].at)

    def _of_run(self, run: Run, tasks: Tasks, moment: RunNow) -> dict[str, Any]:
        assert self._journal is not None
        now = moment.at
        live = not run.over and is_live(self._project.live, run.run_id)
        waiting_agent = waits_for(run, now) if live else ""
        phase = _phase(run, live=live, paused=moment.paused, waiting=bool(waiting_agent))
        report = self._latest_report(run, tasks, now)
        at_work = run.active.values() if live else ()
        usage = run.usage
        for record in at_work:
            usage = add_usage(usage, self._moment_of(record).usage)
        titles = {task.id: task.title for task in tasks if task.id in run.active}
        return {
            "phase": phase,
            "run_id": run.run_id,
            "methodology": run.methodology,
            "exit_reason": run.exit_reason or "",
            "exit_message": run.exit_message,
            "started_at": run.started_at,
            "seconds": now - run.started_at if live else report.seconds if report else None,
            "iterations": run.iterations_run,
            "max_iterations": run.max_iterations,
            "cost": CostSummary.of([usage]),
            "budgets": tuple(_budgets(self._project.budgets, run, usage)),
            "attempts": tuple(self._attempt(run, record, titles) for record in _in_order(at_work)),
            "landing": self._board.landing if live else "",
            "holds": holds_of(run, now),
            "waits_for": waiting_agent,
            "waiting": report.waiting if report else (),
            "events": self._journal.events,
            "denials": self._journal.denials,
            "messages": tuple(ActionNow(*message) for message in self._board.messages),
            "report": report,
        }

    def _latest_report(self, run: Run, tasks: Tasks, now: float) -> RunReport | None:
        """The report of the run, made again when something in it is new."""
        if self._report_due and self._monotonic() >= self._next_report:
            begun = self._monotonic()
            if (history := self.history) is not None:
                self._report = build_report(
                    history,
                    tasks,
                    project=self._project.root.name,
                    state=str(self._project.state.relative_to(self._project.root)),
                    is_finished=self._is_finished(history.run.branch),
                    holds=holds_of(run, now),
                )
            self._report_due = False
            self._next_report = self._monotonic() + REST * (self._monotonic() - begun)
        return self._report

    def _is_finished(self, branch: str) -> bool:
        git = Git(self._project.root, environment.clean())
        return bool(branch) and git.is_repository and not commit_of(git, branch)

    def _moment_of(self, record: AttemptUnderWay) -> LaneMoment:
        """What happens in the lane of an attempt; nothing if its last reports are of another iteration."""
        moment = self._board.lanes.get(None if record.lane is UNSET else record.lane)
        return moment if moment is not None and moment.iteration == record.iteration else LaneMoment()

    def _attempt(self, run: Run, record: AttemptUnderWay, titles: dict[str, str]) -> AttemptNow:
        moment, check = self._moment_of(record), None
        if moment.check is not None:
            ended = moment.check
            check = CheckNow(
                command=ended.command,
                passed=ended.passed,
                words=check_result(ended),
                output_tail=ended.output_tail,
            )
        landing = run.lanes.landing.tasks if run.lanes is not UNSET and run.lanes.landing else ()
        log = log_path(self._project.state, run.run_id, record.iteration, "output")
        return AttemptNow(
            task=record.task,
            title=titles.get(record.task, ""),
            attempt=record.attempt,
            iteration=record.iteration,
            agent=record.agent,
            mode=record.mode,
            started_at=record.started_at,
            state="at work" if record.result is None else "landing" if record.task in landing else "ready",
            lane=None if record.lane is UNSET else record.lane,
            place=record.place,
            machine=record.machine,
            doing=moment.doing,
            step_started_at=moment.step_started,
            check=check,
            actions=tuple(ActionNow(*action) for action in moment.actions),
            cost=CostSummary.of([moment.usage]),
            log=str(log.relative_to(self._project.root)),
        )


def _phase(run: Run, *, live: bool, paused: bool, waiting: bool) -> RunPhase:
    if not live:
        return "ended" if run.over else "cut off"
    if paused and not run.active:
        return "paused"
    return "waiting" if waiting else "at work"


def _of_steering(steering: Steering, tasks: Tasks) -> dict[str, Any]:
    """What people asked of the run."""
    done = {task.id for task in tasks if task.status in MET}
    guidance = tuple(
        entry for entry in steering.guidance if (entry.task not in done if entry.task else entry.is_open)
    )
    pause = steering.pause
    return {"paused": pause is not None, "paused_by": pause.who if pause else "", "guidance": guidance}


class _Tasks:
    """The tasks, read again only when their file is another one."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store
        self._signature: tuple[int, ...] = ()
        self.tasks: Tasks = ()
        self.fields: dict[str, Any] = {}
        """The fields of a view that come from the tasks alone: made once for each task list that is read."""
        self.changed = False

    def load(self) -> Tasks:
        signature: tuple[int, ...] = ()
        with suppress(OSError):
            status = os.stat(self._store.path)
            signature = status.st_ino, status.st_mtime_ns, status.st_size
        self.changed = not signature or signature != self._signature
        if self.changed:
            self.tasks = self._store.load()
            self.fields = _of_tasks(self.tasks)
            self._signature = signature
        return self.tasks


def _of_tasks(tasks: Tasks) -> dict[str, Any]:
    counts: dict[str, int] = {}
    words: dict[str, int] = {}
    rows = []
    for task in tasks:
        word = status_words(task) if task.status == "completed" else task.status
        counts[task.status] = counts.get(task.status, 0) + 1
        words[word] = words.get(word, 0) + 1
        rows.append(_row(task, word))
    return {"counts": counts, "words": words, "tasks": tuple(rows), "questions": tuple(_questions(tasks))}


def _row(task: Task, word: str) -> TaskNow:
    return TaskNow(
        id=task.id,
        title=task.title,
        status=task.status,
        word=word,
        tone=TONES.get(word, "idle"),
        attempts=task.attempts,
        why="" if task.status == "completed" else task.reason,
        commit=task.commit_sha,
    )


def _questions(tasks: Tasks) -> Iterable[QuestionNow]:
    for task in tasks:
        for question in task.open_questions:
            is_landing, disputed = is_about_landing(question), is_dispute(question)
            yield QuestionNow(
                id=question.id,
                task=task.id,
                title=task.title,
                text=question.text,
                options=question.options,
                command=answer_command(task.id, question),
                kind="landing" if is_landing else "dispute" if disputed else "question",
            )


def _budgets(budgets: Budgets, run: Run, usage: dict[str, Any]) -> Iterable[BudgetNow]:
    """The budgets of the run, each with what is used of it."""
    price, count = cost(usage), tokens(usage)
    if budgets.max_cost_usd is not None:
        yield BudgetNow("max_cost_usd", price or 0.0, budgets.max_cost_usd + run.added_budget.cost_usd)
    if budgets.max_tokens is not None:
        yield BudgetNow("max_tokens", count or 0, budgets.max_tokens + run.added_budget.tokens)


def _in_order(records: Iterable[AttemptUnderWay]) -> list[AttemptUnderWay]:
    return sorted(records, key=lambda record: (record.lane or 0, record.iteration))
