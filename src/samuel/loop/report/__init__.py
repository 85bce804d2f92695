"""The report of a run: its data (`model.py`), and the same as Markdown, JSON and one HTML file."""

from samuel.loop.report.files import save_report, write_reports
from samuel.loop.report.html import to_html
from samuel.loop.report.markdown import to_markdown
from samuel.loop.report.model import RunReport, build_report, report_json

__all__ = [
    "RunReport",
    "build_report",
    "report_json",
    "save_report",
    "to_html",
    "to_markdown",
    "write_reports",
]
