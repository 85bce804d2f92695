"""A report as Markdown, for terminals, pull requests and GitHub's step summary. Nothing in it can be markup.

Titles, output and file names come from people, agents and checks. Each is on one line with its special characters
escaped, or in a code span or block with a fence longer than any in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.base.printable import shell_word
from samuel.base.wording import block, details, headline, line, moment_with_zone, plural, span, until
from samuel.evidence.corner import MUST_FAIL, WITH
from samuel.history.attempt_record import CheckRecord
from samuel.report.model import AttemptReport, RunReport, TaskReport, WaitingItem

LONGEST = 900_000
"""Characters. GitHub refuses a step summary of more than 1 MiB."""
LONGEST_TAIL = 2000

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$@:-])")
_MARKS = {"good": "✅", "warn": "⚠️", "bad": "❌", "ask": "❓", "wait": "⏳", "idle": "▫️"}


def to_markdown(report: RunReport) -> str:
    """The whole report; without the output of checks and the diffs if it would be too long."""
    for tails in (True, False):
        text = "\n".join(_lines(report, tails)) + "\n"
        if len(text) <= LONGEST:
            return text
    cut = text[:LONGEST].rpartition("\n\n")[0]
    return f"{cut}\n\nThe rest is left out; `samuel run report --html FILE` has all of it.\n"


def escaped(text: str, longest: int = 300) -> str:
    """Text on one line that Markdown shows as it is."""
    one_line = _SPECIAL.sub(r"\\\1", line(text, longest))
    return one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code_span(text: str, longest: int = 300) -> str:
    """Text on one line in a code span that nothing in it can end, also in a cell of a table."""
    one_line = line(text, longest).replace("|", "\\|")
    if not one_line:
        return ""
    fence = "`" * (_longest_run(one_line) + 1)
    space = " " if one_line.startswith("`") or one_line.endswith("`") else ""
    return f"{fence}{space}{one_line}{space}{fence}"


def code_block(text: str, longest: int = LONGEST_TAIL, language: str = "text", indent: str = "") -> list[str]:
    """The end of a text in a code block that nothing in it can end."""
    end = block(text, longest)
    fence = "`" * max(3, _longest_run(end) + 1)
    return [f"{indent}{line}".rstrip() for line in (f"{fence}{language}", *end.split("\n"), fence)]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _lines(report: RunReport, tails: bool) -> Iterator[str]:
    run = report.run
    counts = ", ".join(f"{count} {word}" for word, count in report.counts.items())
    counts += f", {plural(report.lost_tests, 'lost test')}" if report.lost_tests else ""
    yield f"# {escaped(report.project)}: {counts}"
    yield ""
    ended = f"{run.exit_reason}: {escaped(run.exit_reason.meaning)}" if run.exit_reason else "not ended"
    yield f"- run {code_span(run.run_id)}, {moment_with_zone(run.started_at)}, {span(report.seconds)}"
    yield f"- agents: {escaped(', '.join(run.agents)) or '-'}"
    yield f"- ended: {ended}"
    yield f"- cost: {escaped(report.cost.words)}"
    if report.coverage:
        yield f"- guards: {escaped(report.coverage.words)}"
    for where in report.checks_ran:
        yield f"- checks: {escaped(where, 500)}"
    for hold in report.holds:
        yield f"- ⏳ waits for {escaped(hold.name)} until {until(hold.until)}: {escaped(hold.why)}"
    for text in run.unguarded:
        yield f"- ⚠️ not guarded, which was accepted: {escaped(text, 500)}"
    yield ""
    yield from _items("Waits for you", report.waiting, tails)
    yield from _items("Look at these yourself", report.to_look_at, tails)
    yield from _repository(report)
    yield from _table(report)
    if run.baseline:
        yield "## Checks before the first agent"
        yield ""
        yield from _checks(run.baseline, tails)
    for task in report.tasks:
        yield from _task(task, tails)
    if report.discoveries:
        yield "## Iterations without a task"
        yield ""
        yield from _attempts(report.discoveries)


def _items(title: str, items: Sequence[WaitingItem], tails: bool) -> Iterator[str]:
    if not items:
        return
    yield f"## {title}"
    yield ""
    for item in items:
        yield f"- {_MARKS[item.tone]} **{escaped(item.subject)}** ({item.word}): {escaped(headline(item.why))}"
        if item.options:
            yield f"    - options: {', '.join(code_span(option) for option in item.options)}"
        for command in item.commands:
            yield f"    - {code_span(command.command)} {command.effect}"
        if tails and details(item.why):
            yield ""
            yield from code_block(details(item.why), indent="    ")
            yield ""
    yield ""


def _repository(report: RunReport) -> Iterator[str]:
    if not report.repository:
        return
    yield "## What happened to the repository"
    yield ""
    for note in report.repository:
        yield f"- {escaped(note, 1000)}"
    yield ""


def _table(report: RunReport) -> Iterator[str]:
    if not (report.tasks or report.other_tasks):
        return
    yield "## Tasks"
    yield ""
    yield "| task | status | attempts | time | cost | change | commit |"
    yield "|---|---|---|---|---|---|---|"
    for task in (*report.tasks, *report.other_tasks):
        change = f"+{task.added} −{task.removed}" if task.changed_files else "-"
        cells = (
            escaped(f"{task.id} {task.title}", 120),
            f"{_MARKS[task.tone]} {task.word}",
            str(len(task.attempts) or "-"),
            span(task.seconds) if task.attempts else "-",
            escaped(task.cost.short) if task.attempts else "-",
            change,
            code_span(task.commit[:10]) or "-",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _task(task: TaskReport, tails: bool) -> Iterator[str]:
    yield f"## {escaped(f'{task.id} {task.title}')}"
    yield ""
    yield f"{_MARKS[task.tone]} {task.word}{f': {escaped(headline(task.why))}' if task.why else ''}"
    yield ""
    yield from _attempts(task.attempts)
    if task.acceptance:
        yield f"**Acceptance tests:** {escaped(task.acceptance, 500)}"
        yield ""
    if task.reviewed:
        yield f"**Reviewed:** {escaped(task.reviewed, 500)}"
        yield ""
    for title, items in _notable(task):
        yield f"**{title}:** {', '.join(code_span(item) for item in items[:50])}"
        yield ""
    if task.changed_files:
        yield f"**{plural(len(task.changed_files), 'changed file')}:**"
        yield ""
        for file in task.changed_files[:100]:
            size = "binary" if file.added is None else f"+{file.added} −{file.removed or 0}"
            yield f"- {code_span(file.path)} {size}"
        yield ""
    checks = task.attempts[-1].record.checks if task.attempts else ()
    if checks:
        yield from _checks(checks, tails)
    if task.diff and tails:
        yield from code_block(task.diff, len(task.diff), "diff")
        yield ""
        if task.diff_cut:
            yield f"{code_span(f'samuel run show {shell_word(task.id)} --diff')} prints the whole diff."
            yield ""


def _notable(task: TaskReport) -> Iterator[tuple[str, Sequence[str]]]:
    if task.check_files:
        yield "Changed files of the checks", task.check_files
    if task.lost_tests:
        yield "Lost tests", task.lost_tests
    if task.flaky:
        yield "Flaky checks", task.flaky
    if task.denials:
        yield "Denied by guards", task.denials
    if task.would_denials:
        yield "Observed guards", task.would_denials


def _attempts(attempts: Sequence[AttemptReport]) -> Iterator[str]:
    for attempt in attempts:
        record = attempt.record
        why = f": {escaped(headline(record.why))}" if record.why else ""
        agent = f" by {escaped(record.agent)}" if record.agent else ""
        agent += f" on {escaped(record.machine)}" if record.machine else ""
        reset = f", limited until {until(record.ending.resets_at)}" if record.ending.resets_at else ""
        guarded = f", {escaped(record.coverage.words)}" if record.coverage else ""
        yield (
            f"{record.iteration}. {_MARKS[attempt.tone]} {attempt.word}{why} ({span(attempt.seconds)}{agent}, "
            f"cost {escaped(attempt.cost.words)}{guarded}{reset}, log {code_span(attempt.log)})"
        )
        for entry in record.guidance:
            yield f"   - {escaped(entry.who)} said to it ({escaped(entry.at)}): {escaped(headline(entry.text))}"
    yield ""


def _checks(checks: Sequence[CheckRecord], tails: bool) -> Iterator[str]:
    for check in checks:
        yield f"- {_MARKS[check_tone(check)]} {code_span(check.command)} {check_words(check)}"
    yield ""
    for check in checks:
        if tails and check_tone(check) == "bad" and check.output_tail.strip():
            yield f"The end of the output of {code_span(check.command)}:"
            yield ""
            yield from code_block(check.output_tail)
            yield ""


def check_tone(check: CheckRecord) -> str:
    """`good` or `bad`; `idle` where the work is left out, and a check that passes shows nothing."""
    if check.corner in MUST_FAIL:
        return "idle" if check.passed else "good"
    return "good" if check.passed else "bad"


def check_words(check: CheckRecord) -> str:
    """How a check ended, in words: its exit code, its time, and with which files it ran."""
    code = "killed or not started" if check.exit_code is None else f"exit code {check.exit_code}"
    parts = [code, span(check.seconds)]
    if words := WITH.get(check.corner):
        parts.append(words)
    if check.corner in MUST_FAIL:
        parts.append("passes as well" if check.passed else "fails, as it should")
    if check.flaky:
        parts.append("flaky: it failed, and passed when it was run once more")
    if check.known_failure:
        parts.append("failed before the run as well")
    if check.tests:
        parts.append(
            f"{check.tests.passed} passed, {len(check.tests.failed)} failed, {check.tests.skipped} skipped"
        )
    return ", ".join(parts)
