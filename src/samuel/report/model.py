"""What a report says about one run: plain data, made from its history and the tasks. Renderers only arrange it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from samuel.agents.process_files import log_path
from samuel.base.printable import shell_word
from samuel.bridges.coverage import Coverage, total_coverage
from samuel.checks.verdict import cannot_run
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.attempt_record import AttemptRecord, ChangedFile, RunRecord
from samuel.history.cost_summary import CostSummary
from samuel.history.history import RunHistory
from samuel.history.holds import Hold
from samuel.history.outcome_words import NOTHING_GREEN, outcome_tone, outcome_words, status_words
from samuel.report.lost_tests import lost_tests, lost_tests_words
from samuel.report.way_out import way_out
from samuel.tasks.question import Question, answer_command, is_about_landing, is_about_missing_review, is_dispute
from samuel.tasks.task import Task, Tasks

TONES: Mapping[str, str] = {
    "proven": "good",
    "proven, new names only": "good",
    "checked": "warn",
    "disputed": "warn",
    "completed": "good",
    "done by a person": "good",
    "unverified": "warn",
    "blocked": "bad",
    "waiting": "ask",
}
_HERE = Path()
MOST_LOST = 20  # tests that an item names
WAITS = (
    IterationOutcome.ASKED,
    IterationOutcome.DISPUTED,
    IterationOutcome.REVIEW_FAILED,
    IterationOutcome.REVIEW_UNAVAILABLE,
)
"""The outcomes after which a task waits for a person, if its row does not say so."""
NOT_PROVEN = ("checked", "disputed", "unverified")
HEADLINE = ("proven", "checked", "unverified", "blocked", "waiting")
"""The words that the headline of a report always counts, in their order."""


class NextCommand(msgspec.Struct, frozen=True):
    """A command that a person can type, and what it does."""

    command: str
    effect: str


class WaitingItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person."""

    subject: str
    word: str
    tone: str
    why: str
    commands: tuple[NextCommand, ...]
    options: tuple[str, ...] = ()


class AttemptReport(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, and where it is on the run's timeline."""

    record: AttemptRecord
    word: str
    tone: str
    seconds: float
    start: float
    """Percent of the run's time at which it began."""
    width: float
    """Percent of the run's time that it took."""
    wait: float
    """Percent of the run's time that the run waited for the agent after it."""
    cost: CostSummary
    log: str


class TaskReport(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    word: str
    tone: str
    why: str
    commit: str
    attempts: tuple[AttemptReport, ...]
    seconds: float
    cost: CostSummary
    changed_files: tuple[ChangedFile, ...]
    """Of the attempt that completed it, or of the last one."""
    added: int
    removed: int
    check_files: tuple[str, ...]
    lost_tests: tuple[str, ...]
    """Of the attempt that completed it, or of all."""
    flaky: tuple[str, ...]
    """Checks that failed, and passed when they were run once more."""
    reviewed: str
    """What a reviewer said about its last attempt that was read; "" if none was asked."""
    acceptance: str
    """The acceptance tests that it was judged by, or why there were none; "" if none were wanted."""
    denials: tuple[str, ...]
    would_denials: tuple[str, ...]
    notes: tuple[str, ...] = ()
    completed: bool = False
    """Whether an attempt of this run completed it."""
    diff: str = ""
    """What it changed, as a patch; "" if git does not have it, or there is no room for it."""
    diff_cut: bool = False
    """True: there is more, which `samuel run show ID --diff` prints."""


class LaneTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts in one lane, in the order of time."""

    lane: int
    attempts: tuple[AttemptReport, ...]


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    run: RunRecord
    seconds: float
    counts: dict[str, int]
    """How many tasks have which word; those of the headline come first and may be zero."""
    lost_tests: int
    """How many tests ran before the completed tasks and do not run since."""
    cost: CostSummary
    coverage: Coverage | None
    """How many tool calls of all agents were judged by hooks; None if none were to judge them."""
    waiting: tuple[WaitingItem, ...]
    to_look_at: tuple[WaitingItem, ...]
    """Completed tasks that nothing proves, with what their grade rests on."""
    repository: tuple[str, ...]
    """What agents and checks did to the repository, and what was done about it."""
    holds: tuple[Hold, ...]
    """The agents and machines that the run waits for, if it has not ended."""
    tasks: tuple[TaskReport, ...]
    """With at least one attempt in this run."""
    other_tasks: tuple[TaskReport, ...]
    """Without an attempt in this run."""
    discoveries: tuple[AttemptReport, ...]
    """Iterations that looked for tasks, or ended before one was chosen."""
    checks_ran: tuple[str, ...] = ()
    """Where the checks that decided ran, and how what they need was kept from the agents, in words."""
    lanes: tuple[LaneTimeline, ...] | UnsetType = UNSET
    """What each lane did, of a run with several agents at once."""


def build_report(
    history: RunHistory,
    tasks: Tasks | None,
    *,
    project: str,
    state: str = ".samuel/run",
    is_finished: bool = False,
    holds: tuple[Hold, ...] = (),
) -> RunReport:
    """The report of a run.

    `tasks` are those at the end of the run; None where they are not known: then what is known comes from the
    attempts. `state` is the state directory below the project's root. `is_finished` is whether the branch of the
    run is gone: it was merged or discarded. `holds` are the agents and machines that the run waits for now.
    """
    run, records = history
    end = max([run.ended_at or 0.0, run.started_at, *(record.ended_at for record in records)])
    timeline = _Timeline(run.started_at, end, state)
    by_task: dict[str, list[AttemptReport]] = {}
    for record, following in zip_longest(records, records[1:]):
        by_task.setdefault(record.task_id, []).append(timeline.attempt(record, following))
    discoveries = tuple(by_task.pop("", ()))
    rows = {task.id: task for task in tasks or ()}
    commits = any(record.commit for record in records)
    reports = [_task_report(id, by_task.get(id, ()), rows.get(id), commits) for id in {**rows, **by_task}]
    counts = dict.fromkeys(HEADLINE, 0)
    for report in reports:
        counts[report.word] = counts.get(report.word, 0) + 1
    return RunReport(
        project=project,
        run=run,
        seconds=end - run.started_at,
        counts=counts,
        lost_tests=sum(len(tests) for tests in lost_tests(records).values()),
        cost=CostSummary.of(record.usage for record in records if ran_an_agent(record)),
        coverage=total_coverage(record.coverage for record in records),
        waiting=tuple(_waiting(run, reports, rows, is_finished=is_finished)),
        to_look_at=tuple(item for report in reports for item in _to_look_at(report)),
        repository=tuple(repository_notes(records)),
        holds=holds,
        tasks=tuple(sorted((task for task in reports if task.attempts), key=_first_iteration)),
        other_tasks=tuple(task for task in reports if not task.attempts),
        discoveries=discoveries,
        checks_ran=tuple(dict.fromkeys(record.evidence.where for record in records if record.evidence)),
        lanes=_lanes([attempt for attempts in (*by_task.values(), discoveries) for attempt in attempts]) or UNSET,
    )


def _lanes(attempts: Sequence[AttemptReport]) -> tuple[LaneTimeline, ...]:
    by_lane: dict[int, list[AttemptReport]] = {}
    for attempt in sorted(attempts, key=lambda attempt: attempt.record.started_at):
        if attempt.record.lane is not UNSET:
            by_lane.setdefault(attempt.record.lane, []).append(attempt)
    return tuple(LaneTimeline(lane=lane, attempts=tuple(by_lane[lane])) for lane in sorted(by_lane))


def ran_an_agent(record: AttemptRecord) -> bool:
    """Whether an agent was started in this attempt, so that it may have cost something."""
    return record.exit_code is not None or bool(record.usage)


class _Timeline:
    """The time from the beginning of a run to its end, in percent."""

    def __init__(self, start: float, end: float, state: str) -> None:
        self._start = start
        self._seconds = max(end - start, 0.001)
        self._state = state

    def attempt(self, record: AttemptRecord, following: AttemptRecord | None) -> AttemptReport:
        seconds = max(record.ended_at - record.started_at, 0.0)
        start, end = self._percent(record.started_at), self._percent(record.ended_at)
        waited = outcome_tone(record) == "wait"
        next_start = self._percent(following.started_at) if waited and following else end
        return AttemptReport(
            record=replace(record, predicate={}),  # `samuel run receipt` prints it
            word=outcome_words(record),
            tone=outcome_tone(record),
            seconds=seconds,
            start=round(start, 3),
            width=round(max(end - start, 0.0), 3),
            wait=round(max(next_start - end, 0.0), 3),
            cost=CostSummary.of([record.usage]),
            log=record.log or f"{self._state}/{log_path(_HERE, record.run_id, record.iteration, 'output')}",
        )

    def _percent(self, seconds: float) -> float:
        return min(max((seconds - self._start) / self._seconds * 100, 0.0), 100.0)


def _task_report(id: str, attempts: Sequence[AttemptReport], row: Task | None, commits: bool) -> TaskReport:
    records = [attempt.record for attempt in attempts]
    completed = next(
        (record for record in reversed(records) if record.outcome is IterationOutcome.COMPLETED), None
    )
    last = completed or (records[-1] if records else None)
    word = _word(row, completed, records)
    files = last.changed_files if last else ()
    commit = (completed.commit if completed else "") or (row.commit_sha if row else "")
    lost = completed.lost_tests if completed else _each_once(record.lost_tests for record in records)
    notes = [record.commit_error for record in records if record.commit_error]
    if completed and commits and files and not commit and not notes:
        notes.append("completed without a commit, although other tasks of this run have one")
    return TaskReport(
        id=id,
        title=row.title if row else last.title if last else "",
        word=word,
        tone="warn" if lost and completed else TONES.get(word, "idle"),
        why=_why(row, completed, records),
        commit=commit,
        attempts=tuple(attempts),
        seconds=sum(attempt.seconds for attempt in attempts),
        cost=CostSummary.of(record.usage for record in records if ran_an_agent(record)),
        changed_files=files,
        added=sum(file.added or 0 for file in files),
        removed=sum(file.removed or 0 for file in files),
        check_files=_each_once(record.check_files for record in records),
        lost_tests=lost,
        flaky=_each_once([check.command for check in record.checks if check.flaky] for record in records),
        acceptance=next((record.acceptance.words for record in reversed(records) if record.acceptance), ""),
        reviewed=next((record.review.words for record in reversed(records) if record.review), ""),
        denials=_each_once(record.denials for record in records),
        would_denials=_each_once(record.would_denials for record in records),
        notes=tuple(notes),
        completed=completed is not None,
    )


def _word(row: Task | None, completed: AttemptRecord | None, records: Sequence[AttemptRecord]) -> str:
    """What became of a task, by its row; by its attempts if it has none, or if the row does not say how."""
    if row is not None and (row.status != "completed" or row.grade or not completed):
        return status_words(row)
    if completed is not None:
        return completed.grade or "completed"
    waits = records and records[-1].outcome in WAITS
    return "waiting" if waits else "not finished"


def _why(row: Task | None, completed: AttemptRecord | None, records: Sequence[AttemptRecord]) -> str:
    """Why a task is not completed; what its grade rests on if it is."""
    if completed is not None and (row is None or row.status == "completed"):
        return completed.evidence.words if completed.evidence else ""
    if row is not None and row.status != "pending" and row.last_failure:
        return row.last_failure
    return (records[-1].why if records else "") or (row.last_failure if row else "")


def _waiting(
    run: RunRecord, tasks: Sequence[TaskReport], rows: Mapping[str, Task], *, is_finished: bool
) -> Iterable[WaitingItem]:
    """What a person has to do: answer, unblock, start again."""
    for task in tasks:
        if task.word == "waiting":
            yield from _questions_of(task, rows[task.id].open_questions if task.id in rows else ())
    for task in tasks:
        if task.word == "blocked":
            look = NextCommand(f"samuel run show {shell_word(task.id)}", "shows its attempts and their logs")
            again = NextCommand(f"samuel run reset {shell_word(task.id)}", "lets the next run try it again")
            changes = NextCommand(
                f"samuel run restore {shell_word(task.id)}", "puts its changes back into the work tree"
            )
            is_restorable = any(attempt.record.ref for attempt in task.attempts)
            commands = [look, again, *([changes] if is_restorable else ())]
            why, way = task.why, way_out(task.id, task.why)
            if way:
                why = f"{task.why.partition(chr(10))[0]}; {way.own_files}, {way.try_again}"
                commands.append(NextCommand(way.take_it[1], "takes what was put back as it is, without a check"))
            yield _item(task, why, *commands)
    for task in tasks:
        for note in task.notes:
            yield _item(task, note, NextCommand("git status", "shows what is not committed"))
    if run.branch and not is_finished:
        into = run.from_branch or "what is checked out"
        yield WaitingItem(
            subject="the work",
            word="on a branch",
            tone="ask",
            why=f"it is on the branch `{run.branch}`" + (f", from `{run.from_branch}`" if run.from_branch else ""),
            commands=(
                NextCommand("samuel run finish --merge", f"merges it into {into}"),
                NextCommand("samuel run finish --pr", "pushes it and opens a pull request"),
                NextCommand("samuel run finish --discard", "removes the branch; a ref keeps its commits"),
            ),
        )
    if run.exit_reason is not None and run.exit_reason in _AFTER:
        yield WaitingItem(
            subject="the run",
            word=str(run.exit_reason).replace("_", " "),
            tone="bad" if run.exit_reason.exit_code else "wait",
            why=run.exit_message or run.exit_reason.meaning,
            commands=_after(run, run.exit_reason),
        )


def _to_look_at(task: TaskReport) -> Iterable[WaitingItem]:
    """What nothing proves about a completed task."""
    look = NextCommand(f"samuel run show {shell_word(task.id)} --diff", "prints the change")
    if task.lost_tests and task.completed:
        why = lost_tests_words(task.lost_tests, MOST_LOST)
        yield msgspec.structs.replace(_item(task, why, look), word="lost tests", tone="bad")
    evidence = task.attempts[-1].record.evidence if task.attempts else None
    if task.word in NOT_PROVEN and task.attempts:
        still_red = any(attempt.record.still_red for attempt in task.attempts)
        unknown = "no check ran for it" if task.word == "unverified" else "nothing shows that the task is done"
        why = NOTHING_GREEN if still_red else evidence.words if evidence else unknown
        yield _item(task, why, look)


def _questions_of(task: TaskReport, questions: Sequence[Question]) -> Iterable[WaitingItem]:
    for question in questions or [Question(id=task.id, text=task.why)]:
        answer = question.options[0] if question.options else "your answer"
        command = f"samuel run answer {shell_word(question.id)} {shell_word(answer)}"
        answering = NextCommand(command, "answers it; the next run goes on with the task")
        if is_about_landing(question):
            answering = NextCommand(answer_command(task.id, question), "lands the work; no agent is paid")
        elif is_dispute(question):
            accepting = f"samuel run accept {shell_word(task.id)}"
            answering = NextCommand(accepting, "takes the work as it is; no agent is paid")
            refusing = NextCommand(
                f'samuel run refuse {shell_word(task.id)} "why"', "sends it back with the reason"
            )
            look = NextCommand(f"samuel run show {shell_word(task.id)} --diff", "prints the whole attempt")
            again = NextCommand(answer_command(task.id, question), "lets the work be reviewed once more")
            more = (again,) if is_about_missing_review(question) else ()
            yield _item(task, question.text, look, *more, answering, refusing)
            continue
        item = _item(task, question.text, answering)
        yield msgspec.structs.replace(item, options=question.options)


def _item(task: TaskReport, why: str, *commands: NextCommand) -> WaitingItem:
    return WaitingItem(
        subject=f"{task.id} {task.title}", word=task.word, tone=task.tone, why=why, commands=tuple(commands)
    )


_START = NextCommand("samuel run start", "goes on with the tasks that are left")
_AFTER: Mapping[ExitReason, tuple[NextCommand, ...]] = {
    ExitReason.BASELINE_FAILED: (
        NextCommand("samuel run start", "once the checks pass"),
        NextCommand("samuel run start --baseline accept", "only what becomes worse is a failure"),
    ),
    ExitReason.BASE_BROKEN: (NextCommand("samuel run start", "once the checks pass on the branch"),),
    ExitReason.AGENT_UNAVAILABLE: (
        NextCommand("samuel doctor", "says what the agent lacks"),
        _START,
    ),
    ExitReason.BUDGET: (
        NextCommand("samuel run start --add-budget 5usd", "goes on with a larger budget"),
        _START,
    ),
    ExitReason.CONSECUTIVE_FAILURES: (_START,),
    ExitReason.MAX_ITERATIONS: (_START,),
    ExitReason.INTERRUPTED: (_START,),
    ExitReason.ERROR: (
        NextCommand("samuel run start", "goes on with the tasks that are left, once this is fixed"),
    ),
    ExitReason.STRICT_FAILURE: (NextCommand("samuel hooks log", "shows which hook failed"), _START),
}


def _after(run: RunRecord, reason: ExitReason) -> tuple[NextCommand, ...]:
    """What to do after the run; a check that cannot run is not to be accepted."""
    commands = _AFTER[reason]
    return (
        commands[:1] if reason is ExitReason.BASELINE_FAILED and any(map(cannot_run, run.baseline)) else commands
    )


def repository_notes(records: Iterable[AttemptRecord]) -> Iterable[str]:
    """What is noted of the repository in these attempts, each with its iteration and task."""
    for record in records:
        subject = f"iteration {record.iteration}" + (f", task {record.task_id}" if record.task_id else "")
        yield from (f"{subject}: {note}" for note in record.notes)


def _each_once(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))


def _first_iteration(task: TaskReport) -> int:
    return task.attempts[0].record.iteration


def report_json(report: RunReport) -> dict[str, object]:
    """The report as plain data for JSON."""
    plain: dict[str, object] = msgspec.to_builtins(report)
    return plain
