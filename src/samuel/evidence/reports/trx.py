"""Reports of dotnet in the format of Visual Studio, `.trx`."""

from __future__ import annotations

from samuel.evidence.reports.bounded_xml import Element, UnreadableXml, elements, local_name
from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.suite import (
    MAX_TESTS,
    CaseResult,
    FailureKind,
    ReportedTest,
    SuiteReport,
    suite_report,
)

_NAMES = frozenset(("TestRun", "UnitTestResult", "UnitTest"))
_PASSED = ("passed", "passedbutrunaborted", "warning")
_SKIPPED = ("notexecuted", "notrunnable", "inconclusive", "pending", "disconnected")


def read_trx(content: bytes, root: str = "") -> SuiteReport | None:
    """The tests of a report; None if it cannot be read."""
    results: list[tuple[str, str, CaseResult, FailureKind | None]] = []
    classes: dict[str, str] = {}  # the class of each test, by the test's number in the report
    is_report = False
    try:
        for element, _ in elements(content, _NAMES):
            name = local_name(element)
            is_report = is_report or name == "TestRun"
            if name == "UnitTest":
                method = _child(element, "TestMethod")
                classes[element.get("id") or ""] = (method.get("className") or "") if method is not None else ""
            elif name == "UnitTestResult" and len(results) < MAX_TESTS:
                results.append(_result(element))
    except UnreadableXml:
        return None
    if not is_report:
        return None
    tests = (
        ReportedTest(normalised(_id(classes.get(number, ""), name), root), result, failure)
        for number, name, result, failure in results
    )
    return suite_report("dotnet", tests)


def _result(element: Element) -> tuple[str, str, CaseResult, FailureKind | None]:
    outcome = (element.get("outcome") or "").lower()
    names = element.get("testId") or "", element.get("testName") or ""
    if outcome in _PASSED:
        return *names, "passed", None
    if outcome in _SKIPPED:
        return *names, "skipped", None
    output = _child(element, "Output")
    error = _child(output, "ErrorInfo") if output is not None else None
    message = _child(error, "Message") if error is not None else None
    return *names, "failed", kind_of_failure((message.text or "") if message is not None else "")


def _child(element: Element, name: str) -> Element | None:
    return next((child for child in element if local_name(child) == name), None)


def _id(place: str, name: str) -> str:
    """`Shop.Tests.ShopTest::Subtracts`. xunit writes the class into the name, MSTest does not."""
    place = place.partition(",")[0]  # older ones add the assembly
    return f"{place}::{name.removeprefix(f'{place}.')}" if place else name
