from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from samuel.attempt.baseline import baseline_way_out
from samuel.base.printable import shell_word
from samuel.base.wording import block, details, headline, line, moment, plural, span
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.display.notice_lines import FINISH
from samuel.display.now.model import RunNow
from samuel.display.status_lines import hold_data, hold_lines, lane_lines, lanes_data, run_fields
from samuel.events.endings import ExitReason
from samuel.git.git import Git
from samuel.history.attempt_record import CheckRecord
from samuel.history.cost_summary import CostSummary
from samuel.history.history import RunHistory
from samuel.history.own_branch import OwnBranch, commit_of
from samuel.history.run import Run, own_branch_of
from samuel.process import environment
from samuel.report.lost_tests import lost_tests, lost_tests_words
from samuel.report.markdown import check_words
from samuel.report.model import repository_notes
from samuel.report.way_out import way_out_lines
from samuel.setup.watched_run import run_watcher
from samuel.tasks.question import answer_command
from samuel.tasks.task import Task, Tasks
from samuel.workspaces.lost_commits import LostCommit, lost_commits, lost_lines

COLUMNS = ("status", "tasks")
MOST_NOTES = 10  # about the repository
REASON = 200  # characters of why a task is blocked; the whole of it is in `--json`
OUTPUT, OUTPUT_LINES = 2000, 10  # characters and lines of the output below it


@command()
def status(here: CommandContext) -> int:
    """Count the tasks by status; show the last run, and what waits for you.

    \b
        samuel run status --json
    """
    return show_status(here)


def show_status(here: CommandContext) -> int:
    """Print the state of the tasks and of the last run."""
    watcher = run_watcher(here.root)
    view = watcher.look()
    tasks, run = watcher.tasks, watcher.run
    data: dict[str, Any] = {"counts": view.counts, "exit_reason": "", "usage": {}, "paused": view.paused}
    data["guidance"] = msgspec.to_builtins(view.guidance)
    data |= run_fields(run) if run else {}
    data |= {
        "unverified": [task.id for task in _unverified(tasks)],
        "reviewed": [{"id": task.id, "reviewed": task.reviewed} for task in tasks if task.reviewed],
        "lost_tests": [],
        "baseline_failures": [],
        "acceptance": [],
        "blocked": [{"id": task.id, "why": task.last_failure} for task in tasks if task.status == "blocked"],
        "waiting": [{"id": task.id, "why": task.reason} for task in tasks if task.status == "waiting"],
    }
    rows = [(word, str(count)) for word, count in view.words.items()]
    blocks: list[str | OutputTable] = [OutputTable(COLUMNS, rows), *_steering_lines(view)]
    lost: dict[str, tuple[str, ...]] = {}
    if run:
        live, now, history = view.is_live, view.at, watcher.history
        lost = lost_tests(history.attempts if history else ())
        data["lost_tests"] = [{"id": id, "tests": list(tests)} for id, tests in lost.items()]
        data["acceptance"] = _acceptance(history)
        data |= {"started_at": run.started_at, "seconds": view.seconds, "running": live, **hold_data(run, now)}
        data |= {"exit_message": run.exit_message, "repository": _repository(history)}
        failures = history.run.baseline_failures if history else ()
        data["baseline_failures"] = msgspec.to_builtins(failures)
        blocks += ["", *_run_lines(run, view), *_baseline_lines(run, failures)]
        if run.lanes is not UNSET:
            data |= lanes_data(run, run.lanes)
            blocks += lane_lines(run, run.lanes, tasks, now)
        elif branch := _unfinished_branch(here, run):
            data |= {"branch": branch.name, "from_branch": branch.from_branch}
            blocks.append(f"branch      {branch.name}, from {branch.origin}")
            if not live:
                blocks.append(f"            {FINISH}")
        blocks += hold_lines(run, now)
        blocks += _repository_lines(_repository(history))
    named = own_branch_of(run) if run else None
    commits = lost_commits(Git(here.root, environment.clean()), tasks, named.name if named else "")
    data["lost_commits"] = [{"id": task.id, "commit": task.commit_sha, "ref": ref} for task, ref, _ in commits]
    blocks += _attention(tasks, lost, commits)
    return here.out.answer(data, *blocks)


def _unfinished_branch(here: CommandContext, run: Run) -> OwnBranch | None:
    """The branch of the run's own with its work, while it exists."""
    branch = own_branch_of(run)
    git = Git(here.root, environment.clean())
    return branch if branch and git.is_repository and commit_of(git, branch.name) else None


def _run_lines(run: Run, view: RunNow) -> Iterable[str]:
    seconds = view.seconds
    yield f"last run    {run.run_id}, {run.exit_reason or view.headline}"
    took = (
        f", took {span(seconds)}"
        if seconds is not None and run.over
        else f", {span(seconds)} so far"
        if seconds
        else ""
    )
    yield f"began       {moment(run.started_at)}{took}"
    if run.exit_reason in (ExitReason.ERROR, ExitReason.BASELINE_FAILED) and run.exit_message:
        yield f"why         {line(run.exit_message)}"
    yield f"iterations  {run.iterations_run}"
    if run.iterations_run:
        yield f"cost        {CostSummary.of([run.usage]).words}"


def _steering_lines(view: RunNow) -> list[str]:
    """What people asked of the run."""
    lines = [f"paused      by {view.paused_by}: `samuel run resume` lets it go on"] if view.paused else []
    for entry in view.guidance:
        whose = f"task {entry.task}" if entry.task else "the next attempt"
        lines.append(f"said        {entry.who} to {whose}: {line(entry.text, REASON)}")
    return ["", *lines] if lines else []


def _baseline_lines(run: Run, failures: Sequence[CheckRecord]) -> Iterable[str]:
    """The checks that failed before the first agent, each with the end of its output, and what to do."""
    if run.exit_reason is not ExitReason.BASELINE_FAILED:
        return
    for check in failures:
        yield f"check       {line(check.command, 60)}: FAILED, {check_words(check)}"
        yield from _indented(check.output_tail)
    yield f"{'':<12}{baseline_way_out(run.exit_message)}"


def _indented(output: str) -> list[str]:
    """The last lines of an output, below what they belong to."""
    lines = block(output, OUTPUT).split("\n")[-OUTPUT_LINES:] if output.strip() else []
    return [f"{'':<12}{text}".rstrip() for text in lines]


def _repository(recorded: RunHistory | None) -> list[str]:
    """What agents did to the repository in the last run, and commits that failed."""
    attempts = recorded.attempts if recorded else ()
    return [*(attempt.commit_error for attempt in attempts if attempt.commit_error), *repository_notes(attempts)]


def _acceptance(recorded: RunHistory | None) -> list[dict[str, Any]]:
    """The acceptance tests of each task of the last run, or why it has none."""
    last = {attempt.task_id: attempt.acceptance for attempt in (recorded.attempts if recorded else ())}
    return [{"id": id, **msgspec.to_builtins(tests)} for id, tests in last.items() if tests is not None]


def _repository_lines(notes: Sequence[str]) -> list[str]:
    lines = [f"repository  {line(note)}" for note in notes[:MOST_NOTES]]
    if (more := len(notes) - MOST_NOTES) > 0:
        lines.append(f"repository  and {more} more: `samuel run show`")
    return ["", *lines] if lines else []


def _attention(tasks: Tasks, lost: Mapping[str, Sequence[str]], commits: Sequence[LostCommit]) -> list[str]:
    """What waits for a person, each with the command for it."""
    lines = [
        f"LOST TESTS  {id}: {line(lost_tests_words(tests), REASON)} (`samuel run show {shell_word(id)} --diff`)"
        for id, tests in lost.items()
    ]
    for task in tasks:
        if task.status == "waiting":
            commands = [answer_command(task.id, question) for question in task.open_questions]
            lines += [_why("waiting", task, task.reason), *(f"{'':<12}{command}" for command in commands)]
    blocked = [task for task in tasks if task.status == "blocked"]
    for task in blocked:
        lines.append(_why("blocked", task, task.last_failure))
        lines += (f"{'':<12}{line(text)}" for text in way_out_lines(task.id, task.last_failure))
    lines += [f"commits     {text}" for text in lost_lines(commits)]
    if unverified := _unverified(tasks):
        names = ", ".join(task.id for task in unverified)
        lines.append(f"unverified  {plural(len(unverified), 'task')} that no check shows to be done: {names}")
    lines += (f"reviewed    {line(task.id, 60)}: {line(task.reviewed, REASON)}" for task in tasks if task.reviewed)
    if blocked:
        lines.append("`samuel run show ID` shows a task, `samuel run reset ID` lets the next run try it again")
    return ["", *lines] if lines else []


def _why(label: str, task: Task, why: str) -> str:
    """A task with the first line of the reason, and below it the last ones of what comes after it."""
    first = f"{label:<12}{line(task.id, 60)} {line(task.title, 60)}: {headline(why, REASON)}"
    return "\n".join([first, *_indented(details(why, OUTPUT))])


def _unverified(tasks: Tasks) -> list[Task]:
    return [task for task in tasks if task.status == "completed" and task.grade == "unverified"]
