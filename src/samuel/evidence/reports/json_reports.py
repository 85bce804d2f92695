"""Reports in JSON: of jest and vitest, mocha, and rspec."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from samuel.base.decoding import decode_json
from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.suite import CaseResult, ReportedTest, SuiteReport, suite_report

MAX_BYTES = 64 << 20
_RESULTS: dict[str, CaseResult] = {"passed": "passed", "failed": "failed"}
_LOADING = "An error occurred while loading "


def read_json_report(content: bytes, root: str = "") -> SuiteReport | None:
    """The tests of a report of one of these runners; None for anything else."""
    if len(content) > MAX_BYTES or content.lstrip()[:1] != b"{":
        return None
    try:
        report = decode_json(content)
    except (UnicodeDecodeError, RecursionError, ValueError):
        return None
    if not isinstance(report, dict):
        return None
    if isinstance(report.get("testResults"), list):
        tests = _jest_tests(report["testResults"], root)
        return suite_report("jest" if "numRuntimeErrorTestSuites" in report else "vitest", tests)
    if isinstance(report.get("stats"), dict) and isinstance(report.get("tests"), list):
        return suite_report("mocha", _mocha_tests(report, root))
    if isinstance(report.get("examples"), list) and "summary_line" in report:
        return suite_report("rspec", _rspec_tests(report))
    return None


def _jest_tests(files: list[Any], root: str) -> Iterator[ReportedTest]:
    for result in _objects(files):
        file = normalised(_text(result, "name"), root)
        cases = list(_objects(result.get("assertionResults")))
        if not cases and result.get("status") == "failed":  # jest adds a page about itself in front
            message = _text(result, "message").replace("● Test suite failed to run", "").strip()
            yield ReportedTest(file, "failed", kind_of_failure(message), is_module=True, file=file)
        for case in cases:
            names = [name for name in case.get("ancestorTitles") or () if isinstance(name, str)]
            status = _RESULTS.get(_text(case, "status"), "skipped")
            messages = [text for text in case.get("failureMessages") or () if isinstance(text, str)]
            failure = kind_of_failure(messages[0] if messages else "") if status == "failed" else None
            id = f"{file}::{' > '.join((*names, _text(case, 'title')))}"
            yield ReportedTest(id, status, failure, file=file)


def _mocha_tests(report: dict[str, Any], root: str) -> Iterator[ReportedTest]:
    skipped = {(_text(test, "file"), _text(test, "fullTitle")) for test in _objects(report.get("pending"))}
    every = [*_objects(report.get("tests")), *_objects(report.get("failures"))]  # a failed hook is no test
    for test in every:
        file, title = normalised(_text(test, "file"), root), _text(test, "fullTitle")
        error = test.get("err")
        id = f"{file}::{title}" if file else title
        if isinstance(error, dict) and error:
            text = _text(error, "stack") or f"{_text(error, 'name')}: {_text(error, 'message')}"
            yield ReportedTest(id, "failed", kind_of_failure(text), file=file)
        else:
            is_skipped = (_text(test, "file"), title) in skipped
            yield ReportedTest(id, "skipped" if is_skipped else "passed", file=file)


def _rspec_tests(report: dict[str, Any]) -> Iterator[ReportedTest]:
    for example in _objects(report["examples"]):
        file = _text(example, "file_path").removeprefix("./")
        status = _RESULTS.get(_text(example, "status"), "skipped")
        error = example.get("exception")
        failure = None
        if status == "failed":
            error = error if isinstance(error, dict) else {}
            failure = kind_of_failure(_text(error, "message"), _text(error, "class"))
        yield ReportedTest(f"{file}::{_text(example, 'full_description')}", status, failure, file=file)
    for message in report.get("messages") or ():
        if isinstance(message, str) and (start := message.find(_LOADING)) >= 0:
            yield unloaded_spec(message[start:])


def unloaded_spec(text: str) -> ReportedTest:
    """The file that rspec could not load, from the text that it prints about it."""
    words = text.removeprefix(_LOADING).split(maxsplit=1)
    file = words[0].rstrip(".").removeprefix("./") if words else ""
    lines = [line for line in text.splitlines()[1:] if not line.startswith(("Failure/Error:", "#"))]
    return ReportedTest(file, "failed", kind_of_failure("\n".join(lines)), is_module=True, file=file)


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
