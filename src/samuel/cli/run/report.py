from __future__ import annotations

import os
from pathlib import Path

import click

from samuel.base.errors import SamuelError, UsageError
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.selection import RunsOfProject
from samuel.files import atomic
from samuel.git.git import Git
from samuel.history.history import LAST
from samuel.process import environment
from samuel.report.diffs import with_diffs
from samuel.report.files import save_report
from samuel.report.html import to_html
from samuel.report.markdown import to_markdown
from samuel.report.model import RunReport, report_json

SUMMARY = "GITHUB_STEP_SUMMARY"


@command()
@click.argument("run", default=LAST)
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Write one HTML file; `-` prints it."
)
@click.option("--markdown", is_flag=True, help="Print it as Markdown.")
@click.option(
    "--github", is_flag=True, help=f"Add it to the file that ${SUMMARY} names; print it if there is none."
)
def report(here: CommandContext, run: str, html: Path | None, markdown: bool, github: bool) -> int:
    """Report what a run did: what is proven, what waits for you, and why attempts failed.

    RUN is the beginning of a run's id; without it, the last run. Without an option the three files in
    `.samuel/run/reports/` are written again.

    \b
        samuel run report --html report.html
    """
    if sum((html is not None, markdown, github)) > 1:
        raise UsageError("`--html`, `--markdown` and `--github` exclude each other", "give one of them")
    runs = RunsOfProject.here(here)
    data = with_diffs(runs.report(runs.find(run)), Git(runs.root, environment.clean()))
    if html is not None and str(html) != "-":
        return _write_html(here, data, html)
    if github and (summary := os.environ.get(SUMMARY)):
        return _add_summary(here, data, summary)
    if html is not None or markdown or github:
        return here.out.answer(report_json(data), (to_html(data) if html else to_markdown(data)).rstrip("\n"))
    if here.out.json:
        return here.out.answer(report_json(data))
    directory = save_report(runs.state, data).relative_to(runs.root)
    counts = ", ".join(f"{count} {word}" for word, count in data.counts.items())
    counts += f", {plural(data.lost_tests, 'lost test')}" if data.lost_tests else ""
    waiting = f"{len(data.waiting)} wait for you" if data.waiting else "nothing waits for you"
    return here.out.answer(None, f"{counts}; {waiting}", f"{directory}/report.html, report.md and report.json")


def _write_html(here: CommandContext, data: RunReport, file: Path) -> int:
    path = here.directory / file
    try:
        atomic.write_text(path, to_html(data), durable=False)
    except OSError as error:
        raise SamuelError(f"`{file}` cannot be written: {error.strerror}", "give another file") from None
    return here.out.answer({"file": str(path)}, f"`{file}` has the report of run {data.run.run_id}")


def _add_summary(here: CommandContext, data: RunReport, file: str) -> int:
    try:
        with open(file, "a", encoding="utf-8") as summary:
            summary.write(to_markdown(data))
    except OSError as error:
        raise SamuelError(f"`{file}` ({SUMMARY}) cannot be written: {error.strerror}") from None
    return here.out.answer({"file": file}, f"the report of run {data.run.run_id} is in the step summary")
