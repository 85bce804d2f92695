from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import indent
from typing import Any

import click
import msgspec

from samuel.agents.process_files import LOGS, log_path, written_log
from samuel.attempt.baseline import baseline_way_out
from samuel.base.clock import SystemClock
from samuel.base.errors import UsageError
from samuel.base.wording import block, details, headline, line, moment, plural, span
from samuel.bridges.coverage import total_coverage
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.cli.run.history import cost_of, run_data, seconds_of
from samuel.cli.run.selection import RunsOfProject, Selection
from samuel.display.agent_log import last_words, stream_of
from samuel.display.status_lines import hold_words
from samuel.events.endings import ExitReason
from samuel.evidence.corner import CORNERS, MUST_FAIL
from samuel.git.git import Git
from samuel.history.attempt_record import AttemptRecord, CheckRecord, RunRecord
from samuel.history.cost_summary import CostSummary
from samuel.history.history import RunHistory, shortest_prefix
from samuel.history.outcome_words import status_words
from samuel.process import environment
from samuel.report.diffs import change_of_task
from samuel.report.markdown import check_words
from samuel.report.model import repository_notes
from samuel.report.way_out import way_out_lines

WHY = 34  # characters of a reason in a table of 80 columns


@command()
@click.argument("name", metavar="[RUN|TASK]", default="")
@click.option("--diff", is_flag=True, help="Print the change of a task: its commit, or its last failed attempt.")
def show(here: CommandContext, name: str, diff: bool) -> int:
    """Show a run or a task: its attempts, why they failed, what they cost.

    RUN is the beginning of a run's id; without an argument, the last run.

    \b
        samuel run show 1.2 --diff
    """
    runs = RunsOfProject.here(here)
    selection = runs.select(name)
    if diff:
        return _show_diff(here, runs, selection)
    if selection.run_id:
        return _show_run(here, runs, runs.history.load(selection.run_id))
    return _show_task(here, runs, selection)


def _show_run(here: CommandContext, runs: RunsOfProject, history: RunHistory) -> int:
    run = history.run
    ended = f"{run.exit_reason}: {line(run.exit_message or run.exit_reason.meaning)}" if run.exit_reason else "no"
    facts = [
        ("run", f"{run.run_id}, {run.methodology}, {', '.join(run.agents)}"),
        ("began", f"{moment(run.started_at)}, took {span(seconds_of(history))}"),
        ("ended", ended),
        *_way_out(run),
        *_holds(runs, run.run_id),
        ("cost", cost_of(history).words),
        *_guarded(history),
        *(("repository", line(note)) for note in repository_notes(history.attempts)),
        ("logs", f"{runs.state_name}/{LOGS}/{run.run_id}/iteration-NNNN.log"),
    ]
    columns = ("#", "task", "outcome", "took", "cost", "why")
    rows = [(str(attempt.iteration), attempt.task_id or "-", *_cells(attempt)) for attempt in history.attempts]
    data = {
        **run_data(history),
        "holds": msgspec.to_builtins(runs.holds(run.run_id)),
        "attempts": [_plain(runs, attempt) for attempt in history.attempts],
    }
    blocks: list[str | OutputTable] = [_facts(facts)]
    if rows:
        blocks += ["", OutputTable(columns, rows)]
    blocks += _check_blocks(run.baseline_failures)
    return here.out.answer(data, *blocks)


def _way_out(run: RunRecord) -> Iterable[tuple[str, str]]:
    if run.exit_reason is ExitReason.BASELINE_FAILED:
        yield "way out", baseline_way_out(run.exit_message)


def _holds(runs: RunsOfProject, run_id: str) -> Iterable[tuple[str, str]]:
    """What the run waits for now."""
    now = SystemClock.now()
    return (("held", hold_words(hold, now)) for hold in runs.holds(run_id))


def _guarded(history: RunHistory) -> Iterable[tuple[str, str]]:
    """How many tool calls hooks judged, and which guards did not hold."""
    if coverage := total_coverage(attempt.coverage for attempt in history.attempts):
        yield "guards", line(coverage.words)
    for text in history.run.unguarded:
        yield "not guarded", line(text)


def _show_task(here: CommandContext, runs: RunsOfProject, selection: Selection) -> int:
    attempts, row = runs.attempts(selection.task_id), selection.row
    last = attempts[-1] if attempts else None
    title = row.title if row else last.title if last else ""
    commit = (row.commit_sha if row else "") or next((a.commit for a in reversed(attempts) if a.commit), "")
    status = status_words(row) if row else "no longer in the task list"
    facts = [("task", f"{selection.task_id} {line(title)}"), ("status", status)]
    if row and row.reason and row.status != "completed":
        facts.append(("question" if row.status == "waiting" else "why", headline(row.reason)))
    if row and row.status == "blocked":
        facts += [("way out", text) for text in way_out_lines(row.id, row.last_failure)]
    facts += [("commit", commit)] if commit else []
    if last:
        log = _log_of(runs, last)
        facts += [("log", log)] if log else []
        facts += [("kept in", last.ref)] if last.ref else []
        facts += [*_notable(last), *_holds(runs, last.run_id)]
    blocks: list[str | OutputTable] = [_facts(facts)]
    if attempts:
        ids = runs.history.ids()
        columns = ("run", "#", "outcome", "took", "cost", "why")
        rows = [(shortest_prefix(a.run_id, ids), str(a.iteration), *_cells(a, WHY - 10)) for a in attempts]
        blocks += ["", OutputTable(columns, rows), *_corners(last), *_check_blocks(last.checks if last else ())]
    if row and row.status == "blocked" and details(row.reason) and not (last and last.checks):
        blocks += ["", indent(details(row.reason, 4000), "    ")]
    if words := _words(runs, last):
        blocks += ["", f"the last words of the agent:\n{indent(block(words), '    ')}"]
    data = {
        "task": row.plain() if row else {"id": selection.task_id, "title": title},
        "commit": commit,
        "attempts": [_plain(runs, attempt) for attempt in attempts],
        "agent_words": words,
    }
    return here.out.answer(data, *blocks)


def _words(runs: RunsOfProject, attempt: AttemptRecord | None) -> str:
    """What the agent of an attempt said last."""
    if attempt is None:
        return ""
    path = log_path(runs.state, attempt.run_id, attempt.iteration, "output")
    return last_words(runs.state, path, stream_of(runs.root, attempt.agent))


def _notable(attempt: AttemptRecord) -> Iterable[tuple[str, str]]:
    for entry in attempt.guidance:
        yield "said", line(f"{entry.who}: {entry.text}")
    if attempt.commit_error:
        yield "no commit", line(attempt.commit_error)
    for note in attempt.notes:
        yield "repository", line(note)
    if attempt.changed_files:
        added = sum(file.added or 0 for file in attempt.changed_files)
        removed = sum(file.removed or 0 for file in attempt.changed_files)
        yield "changed", f"{plural(len(attempt.changed_files), 'file')}, +{added} -{removed}"
    if attempt.evidence:
        yield "evidence", line(f"{attempt.evidence.words} ({attempt.evidence.where})")
    if attempt.acceptance:
        yield "acceptance", line(attempt.acceptance.words)
    if attempt.review:
        yield "reviewed", line(attempt.review.words)
        for finding in attempt.review.findings:
            yield "finding", line(finding.words)
    if attempt.coverage:
        yield "guards", line(attempt.coverage.words)
    for label, names in (
        ("check files", attempt.check_files),
        ("lost tests", attempt.lost_tests),
        ("still red", attempt.still_red),
        ("denied", attempt.denials),
        ("observed", attempt.would_denials),
    ):
        if names:
            yield label, line(", ".join(names))


def _corners(attempt: AttemptRecord | None) -> Iterable[str | OutputTable]:
    """Which tests ran on which source, and how that ended."""
    checks = attempt.checks if attempt else ()
    if len({check.corner for check in checks}) < 2:
        return
    yield ""
    rows = [(CORNERS[check.corner], line(check.command, WHY), _result(check)) for check in checks]
    yield OutputTable(("tests on source", "check", "result"), rows)


def _result(check: CheckRecord) -> str:
    counts = f", {check.tests.passed} passed, {len(check.tests.failed)} failed" if check.tests else ""
    return ("flaky" if check.flaky else "ok" if check.passed else "red") + counts


def _check_blocks(checks: Sequence[CheckRecord]) -> Iterable[str]:
    if checks:
        yield ""
    for check in checks:
        result = "" if check.corner in MUST_FAIL else "ok, " if check.passed else "FAILED, "
        yield f"check `{line(check.command)}`: {result}{check_words(check)}"
        if not check.passed and check.corner not in MUST_FAIL and check.output_tail.strip():
            yield "\n".join(f"    {text}" for text in block(check.output_tail, 4000).split("\n"))


def _show_diff(here: CommandContext, runs: RunsOfProject, selection: Selection) -> int:
    if not selection.task_id:
        raise UsageError("`--diff` needs a task", "`samuel run show TASK --diff`; `samuel run tasks` lists them")
    git, attempts = Git(runs.root, environment.clean()), runs.attempts(selection.task_id)
    change = change_of_task(git, selection.task_id, selection.row, attempts)
    return here.out.answer({"source": change.source, "diff": change.patch}, change.patch.rstrip("\n"))


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    facts = list(facts)
    width = max(len(name) for name, _ in facts)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in facts)


def _cells(attempt: AttemptRecord, longest: int = WHY) -> tuple[str, ...]:
    took = span(max(attempt.ended_at - attempt.started_at, 0.0))
    return (
        attempt.decided or (attempt.mode if attempt.mode == "acceptance" else attempt.outcome),
        took,
        CostSummary.of([attempt.usage]).short,
        line(attempt.why, longest) or "-",
    )


def _log_of(runs: RunsOfProject, attempt: AttemptRecord) -> str:
    """The log of an attempt, relative to the root; "" if there is none, or none any more."""
    log = written_log(log_path(runs.state, attempt.run_id, attempt.iteration, "output"))
    return str(log.relative_to(runs.root)) if log else ""


def _plain(runs: RunsOfProject, attempt: AttemptRecord) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(attempt)
    del plain["predicate"]  # `samuel run receipt` prints it
    return {**plain, "log": _log_of(runs, attempt), "seconds": max(attempt.ended_at - attempt.started_at, 0.0)}
