"""Reading a report file, whichever of the formats it has."""

from __future__ import annotations

from samuel.evidence.reports.bounded_xml import MAX_BYTES
from samuel.evidence.reports.go_json import read_go_json
from samuel.evidence.reports.json_reports import read_json_report
from samuel.evidence.reports.junit_xml import read_junit
from samuel.evidence.reports.suite import SuiteReport
from samuel.evidence.reports.tap import read_tap
from samuel.evidence.reports.trx import read_trx


def read_report_file(content: bytes, root: str = "") -> SuiteReport | None:
    """The tests of a report in any known format; None if it is none, is too large or is broken.

    `root` is the directory that the tests ran in: ids are the same wherever that is.
    """
    if not content or len(content) > MAX_BYTES:
        return None
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        is_trx = b"<TestRun" in content[:4096]
        return read_trx(content, root) if is_trx else read_junit(content, root)
    if start.startswith(b"{"):
        return read_json_report(content, root) or read_go_json(content)
    return read_go_json(content) or read_tap(content.decode(errors="replace"), root)
