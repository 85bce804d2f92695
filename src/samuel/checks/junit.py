"""Test reports in JUnit's XML: which tests ran, and how two runs differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Literal, NamedTuple
from xml.etree import ElementTree

CaseResult = Literal["passed", "failed", "skipped"]
CaseResults = Mapping[str, CaseResult]  # by the test's id

MAX_BYTES = 64 << 20
MAX_TESTS = 200_000
_DECLARATION = re.compile(rb"<!(?!--|\[CDATA\[)")


class ChangedTests(NamedTuple):
    """How the tests of a run differ from those of an earlier one; ids in the order of the report."""

    newly_failing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """They ran before, and are not in the report any more."""
    newly_skipped: tuple[str, ...] = ()


def read_report(content: bytes) -> dict[str, CaseResult] | None:
    """The tests of a report with their results; None if it cannot be read.

    Of several tests with one id the worst result counts. A document type is refused: its entities could grow
    without end, and no runner writes one. So is UTF-16, in which it would not be noticed.
    """
    if not content or len(content) > MAX_BYTES or b"\0" in content or _DECLARATION.search(content):
        return None
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    cases = islice(root.iter("testcase"), MAX_TESTS)
    return merged({_id(case): _result(case)} for case in cases)


def merged(reports: Iterable[CaseResults]) -> dict[str, CaseResult]:
    """The tests of several reports. Of several results of one test the worst counts."""
    tests: dict[str, CaseResult] = {}
    for report in reports:
        for id, result in report.items():
            if _WORST.index(result) <= _WORST.index(tests.get(id, "skipped")):
                tests[id] = result
    return tests


def compare(before: CaseResults, after: CaseResults) -> ChangedTests:
    """What became worse. A test that is new and fails counts as newly failing."""
    return ChangedTests(
        tuple(id for id, result in after.items() if result == "failed" and before.get(id) != "failed"),
        tuple(id for id, result in before.items() if result != "skipped" and id not in after),
        tuple(
            id for id, result in after.items() if result == "skipped" and before.get(id, "skipped") != "skipped"
        ),
    )


_WORST = ("failed", "passed", "skipped")


def _id(case: ElementTree.Element) -> str:
    """`tests.test_app::test_one`; the class, as pytest and others write it, has the module in it."""
    place = case.get("classname") or case.get("file") or ""
    name = case.get("name") or ""
    return f"{place}::{name}" if place else name


def _result(case: ElementTree.Element) -> CaseResult:
    kinds = {child.tag for child in case}
    if any(child.tag == "skipped" and child.get("type") == "todo" for child in case):
        return "skipped"  # node runs such a test, and does not mind if it fails
    if kinds & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"
