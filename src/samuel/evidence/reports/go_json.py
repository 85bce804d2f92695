"""The lines of `go test -json`: one JSON object for each event of a test, between lines of other output."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from samuel.base.decoding import decode_json
from samuel.evidence.reports.build_errors import kind_of_build_errors
from samuel.evidence.reports.junit_xml import kind_of_go_failure
from samuel.evidence.reports.suite import MAX_TESTS, CaseResult, ReportedTest, SuiteReport, suite_report

MAX_BYTES = 64 << 20
_RESULTS: dict[str, CaseResult] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_MOST_OUTPUT = 200  # lines of a test that are kept


def read_go_json(content: bytes) -> SuiteReport | None:
    """The tests of such an output; None if no line of it is an event."""
    if len(content) > MAX_BYTES:
        return None
    results: dict[str, CaseResult] = {}
    packages: dict[str, str] = {}  # those that failed, and what they printed
    output: dict[str, list[str]] = defaultdict(list)
    is_report = False
    plain: list[str] = []
    for line in content.splitlines():
        event = _event(line)
        if event is None:
            plain.append(line.decode(errors="replace"))
            continue
        is_report = True
        action, package, test = event.get("Action"), str(event.get("Package") or ""), event.get("Test")
        id = f"{package}::{test}" if test else package or str(event.get("ImportPath") or "").partition(" ")[0]
        if action in ("output", "build-output") and len(output[id]) < _MOST_OUTPUT:
            output[id].append(str(event.get("Output") or ""))
        elif test and action in _RESULTS and len(results) < MAX_TESTS:
            results[id] = _RESULTS[action]
        elif not test and action in ("fail", "build-fail"):
            packages[id] = "".join(output[id])
    if not is_report:
        return None
    for other in plain:  # before Go 1.24 a package that does not build has no event
        if other.startswith("FAIL\t") and other.endswith(" [build failed]"):
            packages.setdefault(other[5:].partition(" ")[0].strip(), "\n".join(plain))
    return suite_report("go-test", _tests(results, packages, output))


def _tests(
    results: dict[str, CaseResult], packages: dict[str, str], output: dict[str, list[str]]
) -> list[ReportedTest]:
    failed_parents = {id.rpartition("/")[0] for id, result in results.items() if result == "failed" and "/" in id}
    tests = []
    for id, result in results.items():
        failure = None
        if result == "failed":
            text = "".join(output[id])
            # A test whose parts fail prints nothing of its own; its parts say why.
            failure = "assertion" if id in failed_parents and "panic: " not in text else kind_of_go_failure(text)
        tests.append(ReportedTest(id, result, failure))
    with_tests = {id.partition("::")[0] for id in results}
    for package, text in packages.items():
        if package not in with_tests:
            tests.append(ReportedTest(package, "failed", kind_of_build_errors(text) or "error", is_module=True))
    return tests


def _event(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        event = decode_json(line)
    except (UnicodeDecodeError, RecursionError, ValueError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("Action"), str) else None
