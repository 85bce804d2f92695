"""The lines of a run's display: one for each kind of report, and what to do next at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from samuel.attempt.baseline import baseline_way_out, cannot_run_text, in_place_hint
from samuel.base.printable import listed, shell_word, shorten
from samuel.base.wording import clock_time, elapsed, first_line, plural
from samuel.checks.withheld import withheld_hint
from samuel.clients.adapter.ending import EndingKind
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.evidence.corner import MUST_FAIL, WITH
from samuel.history import notices
from samuel.history.cost_summary import cost
from samuel.history.outcome_words import NOTHING_GREEN
from samuel.report.lost_tests import lost_tests_words
from samuel.report.way_out import way_out_lines
from samuel.tasks.question import Question, answer_command
from samuel.tasks.task import Task

LOOKING = "looking for tasks"
MOST_FILES = 3  # files of checks that a line names
AGAIN = 50  # characters of a title that was printed in full before
MOST_BLOCKED = 5  # tasks that the end of a run names one by one
FINISH = "samuel run finish --merge (or --pr, --discard)"
NO_CHECKS = "no checks are configured"

_ENDINGS = {
    EndingKind.UNAUTHORISED: "not logged in",
    EndingKind.OVERLOADED: "its service is overloaded",
    EndingKind.UNREACHABLE: "its service cannot be reached",
    EndingKind.TIMED_OUT: "ended at agent_timeout",
    EndingKind.IDLE: "ended at idle_timeout, without a sign of work",
    EndingKind.OVER_BUDGET: "ended, because a budget is used up",
    EndingKind.RESTARTED: "ended, to start again",
}
_STEPS = {
    "before:loop": "starting",
    "before:iteration": "pausing",
    "iteration.gate": "deciding whether to go on",
    **dict.fromkeys(
        ("context.snapshot", "context.progress", "context.task", "context.extra"), "looking at the project"
    ),
    "before:agent.invoke": "writing the prompt",
    "agent.invoke": "agent at work",
    "quality.check": "checking",
    "after:iteration": "recording the result",
    "after:loop": "ending",
}


def step_words(event: str) -> str:
    """What a run does while this event is fired."""
    return _STEPS.get(event, "running hooks")


def subject(report: notices.IterationStarted) -> str:
    """What an iteration is about: its task, or the search for tasks."""
    task = report.task
    if task is None:
        return LOOKING if report.mode == "discovery" else "no task"
    if report.mode == "acceptance":
        return f"{task.id} {shorten(task.title, AGAIN)} (acceptance tests)"
    if not task.attempts:
        return f"{task.id} {task.title}"
    return f"{task.id} {shorten(task.title, AGAIN)} (attempt {task.attempts + 1})"


def agent_line(report: notices.AgentEnded, now: float) -> str:
    """How an agent ended: in words if the reason is known, else by its exit code."""
    ending = report.ending
    if ending.kind is EndingKind.LIMITED:
        until = f" until {clock_time(ending.resets_at, now)}" if ending.resets_at else ""
        what = f"rate limited{until}"
    else:
        what = _ENDINGS.get(ending.kind, f"exit code {report.exit_code}")
    reason = first_line(ending.reason)
    details = f"{report.agent}: {reason}" if report.agent and reason else reason
    return f"agent: {what}{f' ({details})' if details else ''}{cost(report.usage)}"


def wait_line(report: notices.WaitStarted, now: float) -> str:
    end = f"until {clock_time(report.until, now)}, {elapsed(max(0.0, report.until - now))} left"
    return f"waiting for {report.agent} {end}{_because(report.why)}"


def _because(why: str) -> str:
    return f": {first_line(why)}" if first_line(why) else ""


def baseline_line(report: notices.BaselineChecked) -> str:
    if not report.failing:
        return "baseline: the checks pass"
    failing = ", ".join(f"`{command}`" for command in report.failing)
    rest = "accepted; only what becomes worse counts" if report.accepted else "no agent was started"
    lines = [f"baseline: {failing} failed before the first agent; {rest}"]
    lines += [cannot_run_text(report.cannot_run)] if report.cannot_run else []
    lines += [hint] if (hint := withheld_hint(report.withheld)) else []
    lines += [hint] if (hint := in_place_hint(report.only_in_place)) else []
    return "\n  ".join(lines)


def judged_twice_line(report: notices.CheckFilesChanged) -> str:
    """Why the checks run once more."""
    files = listed(report.paths, MOST_FILES)
    return f"the attempt changed {files}: checking with the tests as they were, too"


def put_away_line(report: notices.WorkPutAway) -> str:
    files = plural(len(report.paths), "file")
    if not report.task_id:  # a discovery has no task that `run show` could be asked for
        return f"put away what the discovery changed ({files}): git show {shell_word(report.ref)}"
    look = f"samuel run show {shell_word(report.task_id)} --diff"
    return f"put away the changes of task {report.task_id} ({files}): `{look}`"


def settled_line(report: notices.IterationSettled) -> str:
    """The result of an iteration; "" if it failed, since the reason was printed already."""
    completed = report.outcome is IterationOutcome.COMPLETED
    if report.mode == "discovery" and (completed or report.outcome is IterationOutcome.INCOMPLETE):
        return f"  found {plural(report.new_tasks, 'new task') if completed else 'no new tasks'}"
    if not completed:
        return ""
    done = f"{report.statuses.count('completed')} of {plural(len(report.statuses), 'task')} completed"
    if report.grade != "unverified":
        return f"  completed{f' ({report.grade})' if report.grade else ''}: {done}"
    why = NOTHING_GREEN if report.still_red else NO_CHECKS
    return f"  completed (unverified): {why}; {done}"


def acceptance_line(report: notices.AcceptanceWritten) -> str:
    if report.why:
        return f"acceptance tests are not used: {first_line(report.why)}"
    hidden = f", {report.hidden} hidden from the worker" if report.hidden else ""
    return f"{plural(len(report.tests), 'acceptance test')} locked{hidden}"


def review_result(report: notices.ReviewEnded) -> str:
    """How one reading of the work ended."""
    verdict = {"accept": "accepts it", "refuse": f"REFUSES it: {plural(report.findings, 'finding')}"}.get(
        report.verdict, f"no verdict: {first_line(report.why)}"
    )
    return f"review by {report.agent} ({report.lens}): {verdict} ({report.seconds:.1f}s)"


def lost_tests_line(report: notices.LostTests) -> str:
    return f"LOST TESTS: {lost_tests_words(report.tests)}"


def end_line(report: notices.RunEnded) -> str:
    """Why a run ended, how many tasks have which status, and what it cost."""
    unverified = sum(task.status == "completed" and task.grade == "unverified" for task in report.tasks)
    counts = {status: f"{count} {status}" for status, count in report.counts.items() if count}
    if unverified and "completed" in counts:
        counts["completed"] += f" ({unverified} unverified)"
    end = f"ended: {report.reason} after {plural(report.iterations, 'iteration')}"
    return f"{end}{'; ' if counts else ''}{', '.join(counts.values())}{cost(report.usage)}"


def next_steps(report: notices.RunEnded) -> Iterator[str]:
    """What a person can do after this run, a line each, with the commands for it."""
    if report.reason is ExitReason.BASELINE_FAILED:
        yield baseline_way_out(report.message)
    if report.branch:
        origin = f", from {report.from_branch}" if report.from_branch else ""
        yield f"the work is on the branch {report.branch}{origin}"
        yield f"  {FINISH}"
    if report.reason is ExitReason.BUDGET and report.message and "max_duration" not in report.message:
        yield "go on with more: samuel run start --add-budget 5usd (or 20000tokens)"
    for id, tests in report.lost_tests.items():
        yield f"LOST TESTS in task {id}: {lost_tests_words(tests)}"
        yield f"  samuel run show {shell_word(id)} --diff"
    yield from _blocked([task for task in report.tasks if task.status == "blocked"])
    for task in report.tasks:
        if task.status == "waiting":
            yield f"waiting for your answer: {task.id} {task.title}"
            for question in task.open_questions or [Question(id=task.id, text="")]:
                text = first_line(question.text)
                yield f"  {answer_command(task.id, question)}{f'  ({text})' if text else ''}"
    if report.report:
        yield f"report: {report.report}"


def _blocked(tasks: list[Task]) -> Iterator[str]:
    for task in tasks[:MOST_BLOCKED]:
        why = first_line(task.last_failure)
        yield f"blocked: {task.id} {task.title}{f' ({why})' if why else ''}"
        yield f"  samuel run show {shell_word(task.id)}"
        yield f"  samuel run reset {shell_word(task.id)}"
        yield from (f"  {line}" for line in way_out_lines(task.id, task.last_failure))
    if len(tasks) > MOST_BLOCKED:
        yield f"and {len(tasks) - MOST_BLOCKED} more: samuel run tasks --status blocked"


def check_result(report: notices.CheckEnded) -> str:
    """How a check ended; one that failed and passes when it is repeated is flaky."""
    result = "ok" if report.passed else "FAILED"
    if report.corner in MUST_FAIL:
        result = "passes as well" if report.passed else "fails, as it should"
    if report.repeated:
        result = "flaky: it failed, and passed when it was run once more" if report.passed else "FAILED again"
    corner = f" {WITH[report.corner]}" if WITH.get(report.corner) else ""
    return f"`{report.command}`{corner}: {result} ({report.seconds:.1f}s)"


def short_path(path: str) -> str:
    """A path as the user can type it here: relative if it is below the current directory."""
    directory = os.path.join(os.getcwd(), "")
    return path.removeprefix(directory)


def _started(report: notices.RunStarted) -> str:
    pending = plural(report.statuses.count("pending"), "task")
    limit = plural(report.max_iterations, "iteration")
    return f"{pending} to do, {report.statuses.count('completed')} done, at most {limit}"


def _question(report: notices.QuestionAsked) -> str:
    commands = [f"samuel run answer {shell_word(report.id)} TEXT"]
    if report.is_dispute:
        commands = [
            f"samuel run show {shell_word(report.task_id)} --diff",
            f"samuel run accept {shell_word(report.task_id)}",
            f'samuel run refuse {shell_word(report.task_id)} "why"',
        ]
    answers = "".join(f"\n    {command}" for command in commands)
    return f"  question about task {report.task_id}: {report.question}{answers}"


def _landing(report: notices.LandingStarted) -> str:
    more = f"; {plural(report.waiting, 'other task')} under way" if report.waiting else ""
    return f"landing: {', '.join(report.tasks)}{more}"


def _parked(report: notices.LandingParked) -> str:
    command = f"samuel run land {shell_word(report.task_id)}"
    return f"waits for you: task {report.task_id}: {report.reason}\n    {command}"


LINES: Mapping[type[notices.Report], Callable[[Any], str]] = {
    notices.RunResumed: lambda report: f"resuming run {report.run_id} at iteration {report.iteration}",
    notices.RunStarted: _started,
    notices.BaselineChecked: baseline_line,
    notices.BranchChosen: lambda report: f"work lands on {report.branch}: {report.why}",
    notices.BranchEntered: lambda report: f"on the branch {report.branch}, from {report.origin}",
    notices.DiscoveryChosen: lambda report: f"  {LOOKING}",
    notices.CheckFilesChanged: lambda report: f"  {judged_twice_line(report)}",
    notices.AcceptanceWritten: lambda report: f"  {acceptance_line(report)}",
    notices.ReviewEnded: lambda report: f"  {review_result(report)}",
    notices.LostTests: lambda report: f"  {lost_tests_line(report)}",
    notices.LoopWarning: lambda report: f"  warning: {report.text}",
    notices.HandlerMessage: lambda report: f"  {report.text}",
    notices.TaskFileUnreadable: lambda report: f"waiting: the task file cannot be read\n{report.why}",
    notices.IterationSettled: settled_line,
    notices.RunSteered: lambda report: report.text,
    notices.AgentChanged: lambda report: f"  {report.agent} takes over{_because(report.why)}",
    notices.WorkPutAway: lambda report: f"  {put_away_line(report)}",
    notices.QuestionAsked: _question,
    notices.TaskDecided: lambda report: f"  {report.status} by the agent{_because(report.reason)}",
    notices.LandingStarted: _landing,
    notices.WorkLanded: lambda report: (
        f"landed: {', '.join(report.tasks)} on {report.branch} ({report.commit[:12]})"
    ),
    notices.LandingParked: _parked,
}
"""The lines of reports that need no more than the report itself; `PlainDisplay.line` has the others."""
