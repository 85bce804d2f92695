"""What Perl's prove prints, beside the TAP that it shows with `-v`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.suite import ReportedTest, SuiteReport, suite_report
from samuel.evidence.reports.tap import read_tap

_TOTALS = re.compile(r"Files=\d{1,9}, Tests=(\d{1,9}),")
_NO_TESTS = re.compile(r"Result: NOTESTS$")
_FILE = re.compile(r"(\S{1,300})\s{1,80}\(Wstat: .{1,60} Tests: (\d{1,9}) Failed: (\d{1,9})\)$")
_FAILED = re.compile(r"#\s{1,12}Failed test '(.{1,500})'$")
_PLACE = re.compile(r"#\s{1,12}at (\S{1,300}) line \d")


def read_prove(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What prove printed: the failed tests by name, and the files that ended before their tests."""
    totals = [int(match[1]) for line in lines if (match := _TOTALS.match(line))]
    if not totals:
        has_none = any(map(_NO_TESTS.match, lines))
        return suite_report("prove", (), ran=0, is_printed=True) if has_none else None
    tests = []
    for line, following in pairwise(lines):
        if (failed := _FAILED.match(line)) and (place := _PLACE.match(following)):
            tests.append(ReportedTest(f"{place[1]}::{failed[1]}", "failed", "assertion", file=place[1]))
    for line in lines:
        if (match := _FILE.match(line)) and match[2] == "0":
            reasons = "\n".join(reason for reason in lines if f" at {match[1]} line " in reason)
            tests.append(ReportedTest(match[1], "failed", kind_of_failure(reasons), is_module=True, file=match[1]))
    tap = read_tap("\n".join(lines), root)
    passed = [test for test in tap.tests.values() if test.result != "failed"] if tap else []
    failed_count = sum(test.result == "failed" for test in tests)
    named = sum(test.result == "passed" for test in passed)
    return suite_report(
        "prove",
        [*tests, *passed],
        ran=sum(totals),
        failed=failed_count,
        lists_passed=bool(named) and len(passed) + failed_count >= sum(totals),
        is_printed=True,
    )
