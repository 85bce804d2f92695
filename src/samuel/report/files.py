"""The report of a run in files: `report.md`, `report.json` and `report.html` in `reports/<run>/` of the state."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable_json import safe_json_tokens
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.explained import reason
from samuel.files.inside import make_dirs_inside
from samuel.files.regular import BLOCK
from samuel.history.history import History
from samuel.report.diffs import with_diffs
from samuel.report.html import html_pieces
from samuel.report.markdown import to_markdown
from samuel.report.model import RunReport, build_report, report_json
from samuel.tasks.task import Tasks

DIRECTORY = "reports"
MARKDOWN, JSON, HTML = NAMES = ("report.md", "report.json", "report.html")


def write_reports(place: Workplace, run_id: str) -> Path | None:
    """Write the report of the run that ends now; its directory. A failure is a warning: the work is done.

    The tasks are saved beside the history of the run, so that its report can be made again as it was.
    """
    tasks: Tasks = ()
    with suppress(SamuelError):  # the task file is broken; the attempts are still worth a report
        tasks = place.tasks.load()
    try:
        history = History.of(place.state, place.record, place.disk)
        history.save_tasks(run_id, tasks)
        report = build_report(
            history.load(run_id),
            tasks,
            project=place.root.name,
            state=str(place.state.relative_to(place.root)),
        )
        return save_report(place.state, with_diffs(report, place.git), place.disk)
    except (OSError, SamuelError) as error:
        place.warn(f"the report of run {run_id} was not written: {reason(error)}")
        return None


def save_report(state: Path, report: RunReport, disk: Disk = DISK) -> Path:
    """Write the three files; their directory."""
    directory = make_dirs_inside(state, DIRECTORY, report.run.run_id, mode=0o755)
    try:
        atomic.write_at(directory, MARKDOWN, _blocks((to_markdown(report),)), durable=False, disk=disk)
        tokens = safe_json_tokens(report_json(report))
        atomic.write_at(directory, JSON, _blocks(chain(tokens, ("\n",))), durable=False, disk=disk)
        atomic.write_at(directory, HTML, _blocks(html_pieces(report)), durable=False, disk=disk)
    finally:
        os.close(directory)
    return state / DIRECTORY / report.run.run_id


def _blocks(pieces: Iterable[str]) -> Iterator[bytes]:
    """The text in blocks. As a whole, that of a long run would be megabytes, which a process rarely gives back."""
    block: list[str] = []
    length = 0
    for piece in pieces:
        block.append(piece)
        length += len(piece)
        if length >= BLOCK:
            yield "".join(block).encode("utf-8", "backslashreplace")
            block, length = [], 0
    yield "".join(block).encode("utf-8", "backslashreplace")
