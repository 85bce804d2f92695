"""The report of a run in files: `report.md`, `report.json` and `report.html` in `reports/<run>/` of the state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.inside import make_dirs_inside
from samuel.loop.history import History
from samuel.loop.report.html import to_html
from samuel.loop.report.markdown import to_markdown
from samuel.loop.report.model import RunReport, build_report, report_json
from samuel.loop.workplace import Workplace
from samuel.printable import safe_json
from samuel.tasks.task import Tasks

DIRECTORY = "reports"
NAMES = ("report.md", "report.json", "report.html")


def write_reports(place: Workplace, run_id: str) -> Path | None:
    """Write the report of the run that ends now; its directory. A failure is a warning: the work is done."""
    tasks: Tasks = ()
    with suppress(SamuelError):  # the task file is broken; the attempts are still worth a report
        tasks = place.tasks.load()
    try:
        report = build_report(
            History.of(place.state, place.record).load(run_id),
            tasks,
            project=place.root.name,
            state=str(place.state.relative_to(place.root)),
        )
        return save_report(place.state, report, place.disk)
    except (OSError, SamuelError) as error:
        place.warn(f"the report of run {run_id} was not written: {error}")
        return None


def save_report(state: Path, report: RunReport, disk: Disk = DISK) -> Path:
    """Write the three files; their directory."""
    directory = make_dirs_inside(state, DIRECTORY, report.run.run_id, mode=0o755)
    try:
        for name, text in zip(NAMES, _texts(report), strict=True):
            data = text.encode("utf-8", "backslashreplace")
            atomic.write_at(directory, name, data, durable=False, disk=disk)
    finally:
        os.close(directory)
    return state / DIRECTORY / report.run.run_id


def _texts(report: RunReport) -> Iterator[str]:
    """The content of the files, in the order of NAMES. One at a time: that of a long run is long."""
    yield to_markdown(report)
    yield safe_json(report_json(report)) + "\n"
    yield to_html(report)
