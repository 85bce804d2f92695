from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click
from msgspec import UNSET

from samuel import paths
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable
from samuel.cli.run import run_file, state_directory, task_store
from samuel.cli.run.lane_lines import lane_lines, lanes_data
from samuel.cli.run.run_fields import run_fields
from samuel.cli.run.words import FINISH
from samuel.clock import SystemClock
from samuel.errors import SamuelError
from samuel.events.endings import ExitReason
from samuel.loop.history import History, RunHistory
from samuel.loop.lost_commits import LostCommit, lost_commits
from samuel.loop.own_branch import OwnBranch, commit_of
from samuel.loop.report.model import repository_notes
from samuel.loop.report.words import CostSummary, line, moment, plural, span, status_words
from samuel.loop.run import Run, own_branch_of
from samuel.process import environment
from samuel.process.git.git import Git
from samuel.process.live import is_live
from samuel.tasks.task import Task, Tasks

COLUMNS = ("status", "tasks")
MOST_NOTES = 10  # about the repository
REASON = 200  # characters of why a task is blocked; the whole of it is in `--json`


@click.command()
@json_option
@click.pass_obj
def status(here: CommandContext) -> int:
    """Count the tasks by status; show the last run, and what waits for you.

    \b
        samuel run status --json
    """
    directory = state_directory(here)
    user = paths.User.from_environment()
    tasks = task_store(directory).load()
    run = run_file(directory).load()
    counts = _counts(task.status for task in tasks)
    data: dict[str, Any] = {"counts": counts, "exit_reason": "", "usage": {}, **(run_fields(run) if run else {})}
    data |= {
        "unverified": [task.id for task in _unverified(tasks)],
        "blocked": [{"id": task.id, "why": task.last_failure} for task in tasks if task.status == "blocked"],
        "waiting": [{"id": task.id, "why": task.reason} for task in tasks if task.status == "waiting"],
    }
    words = _counts(_word(task) for task in tasks)
    blocks: list[str | OutputTable] = [OutputTable(COLUMNS, [(word, str(count)) for word, count in words.items()])]
    if run:
        live = not run.over and is_live(user.live, run.run_id)
        recorded = _recorded(run, History.of(directory, user.record(directory)))
        seconds = _seconds(run, recorded, live)
        data |= {"started_at": run.started_at, "seconds": seconds, "running": live}
        data |= {"exit_message": run.exit_message, "repository": _repository(recorded)}
        blocks += ["", *_run_lines(run, live, seconds)]
        if run.lanes is not UNSET:
            data |= lanes_data(run, run.lanes)
            blocks += lane_lines(run, run.lanes, tasks, SystemClock.now())
        elif branch := _unfinished_branch(here, run):
            data |= {"branch": branch.name, "from_branch": branch.from_branch}
            blocks.append(f"branch      {branch.name}, from {branch.origin}")
            if not live:
                blocks.append(f"            {FINISH}")
        blocks += _repository_lines(_repository(recorded))
    lost = lost_commits(Git(here.root, environment.clean()), tasks)
    data["lost_commits"] = [{"id": task.id, "commit": task.commit_sha, "ref": ref} for task, ref in lost]
    blocks += _attention(tasks, lost)
    return here.out.answer(data, *blocks)


def _unfinished_branch(here: CommandContext, run: Run) -> OwnBranch | None:
    """The branch of the run's own with its work, while it exists."""
    branch = own_branch_of(run)
    git = Git(here.root, environment.clean())
    return branch if branch and git.is_repository and commit_of(git, branch.name) else None


def _run_lines(run: Run, live: bool, seconds: float | None) -> Iterable[str]:
    ended = run.exit_reason or ("at work" if live else "not ended: `samuel run start` resumes it")
    yield f"last run    {run.run_id}, {ended}"
    took = (
        f", took {span(seconds)}"
        if seconds is not None and run.over
        else f", {span(seconds)} so far"
        if seconds
        else ""
    )
    yield f"began       {moment(run.started_at)}{took}"
    if run.exit_reason is ExitReason.ERROR and run.exit_message:
        yield f"why         {line(run.exit_message)}"
    yield f"iterations  {run.iterations_run}"
    if run.iterations_run:
        yield f"cost        {CostSummary.of([run.usage]).words}"


def _repository(recorded: RunHistory | None) -> list[str]:
    """What agents did to the repository in the last run, and commits that failed."""
    attempts = recorded.attempts if recorded else ()
    return [*(attempt.commit_error for attempt in attempts if attempt.commit_error), *repository_notes(attempts)]


def _repository_lines(notes: Sequence[str]) -> list[str]:
    lines = [f"repository  {line(note)}" for note in notes[:MOST_NOTES]]
    if (more := len(notes) - MOST_NOTES) > 0:
        lines.append(f"repository  and {more} more: `samuel run show`")
    return ["", *lines] if lines else []


def _attention(tasks: Tasks, lost: Sequence[LostCommit]) -> list[str]:
    """What waits for a person, each with the command for it."""
    lines = [
        f"waiting     {task.id} {line(task.title, 60)}: {line(task.reason, REASON)}"
        for task in tasks
        if task.status == "waiting"
    ]
    blocked = [task for task in tasks if task.status == "blocked"]
    lines += [
        f"blocked     {task.id} {line(task.title, 60)}: {line(task.last_failure, REASON)}" for task in blocked
    ]
    lines += [f"lost        {commit.task.id} {line(commit.task.title, 60)}: {commit.words}" for commit in lost]
    if unverified := _unverified(tasks):
        names = ", ".join(task.id for task in unverified)
        lines.append(f"unverified  {plural(len(unverified), 'task')} that no check looked at: {names}")
    if blocked:
        lines.append("`samuel run show ID` shows a task, `samuel run reset ID` lets the next run try it again")
    return ["", *lines] if lines else []


def _recorded(run: Run, history: History) -> RunHistory | None:
    try:
        return history.load(run.run_id)
    except SamuelError:
        return None


def _seconds(run: Run, recorded: RunHistory | None, live: bool) -> float | None:
    """How long the run took, or has taken; None if nobody recorded it."""
    if live:
        return SystemClock.now() - run.started_at
    if recorded is None:
        return None
    ends = [recorded.run.ended_at or 0.0, *(attempt.ended_at for attempt in recorded.attempts)]
    return max(ends) - run.started_at if max(ends) else None


def _word(task: Task) -> str:
    return status_words(task) if task.status == "completed" else task.status


def _unverified(tasks: Tasks) -> list[Task]:
    return [task for task in tasks if task.status == "completed" and task.verified == "none"]


def _counts(words: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
