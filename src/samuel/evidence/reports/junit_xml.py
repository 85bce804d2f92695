"""Reports in JUnit's XML: of pytest, node, Maven, Gradle, nextest, phpunit, gotestsum, jest-junit and others."""

from __future__ import annotations

from collections.abc import Iterator

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

_NAMES = frozenset(("testcase", "testsuite", "testsuites", "property"))
_FAILURES = ("failure", "error")
_HARMLESS = ("PHPUnit\\Framework\\RiskyTestError",)  # phpunit's exit code is 0 in spite of them
_NODE_CLASS = "test"  # node writes it for each test
# Who wrote a report, by an attribute of an element of it.
_RUNNERS = {
    ("testsuite", "name", "pytest"): "pytest",
    ("testsuites", "name", "pytest tests"): "pytest",
    ("testsuites", "name", "jest tests"): "jest",
    ("testsuites", "name", "vitest tests"): "vitest",
    ("testsuites", "name", "nextest-run"): "nextest",
    ("testsuites", "name", "Mocha Tests"): "mocha",
    ("property", "name", "go.version"): "go-test",
    ("property", "name", "surefire.real.class.path"): "maven",
}


def read_junit(content: bytes, root: str = "") -> SuiteReport | None:
    """The tests of a report; None if it cannot be read. `root` is the directory that the tests ran in."""
    tests: list[ReportedTest] = []
    runner = ""
    is_report = False
    try:
        for element, around in elements(content, _NAMES):
            name = local_name(element)
            is_report = is_report or name != "property"
            runner = runner or _runner(name, element)
            if name == "testcase" and len(tests) < MAX_TESTS:
                tests.append(_test(element, around, root))
                runner = runner or _runner_of_case(element)
    except UnreadableXml:
        return None
    return suite_report(runner, tests) if is_report else None


def _runner(name: str, element: Element) -> str:
    for (tag, attribute, value), runner in _RUNNERS.items():
        if name == tag and element.get(attribute) == value:
            return runner
    return ""


def _runner_of_case(case: Element) -> str:
    if case.get("assertions") is not None and case.get("class") is not None:
        return "phpunit"
    return "node-test" if case.get("classname") == _NODE_CLASS and not case.get("file", "").endswith(".py") else ""


def _test(case: Element, around: tuple[Element, ...], root: str) -> ReportedTest:
    result = _result(case)
    name, place = case.get("name") or "", case.get("classname") or ""
    file = normalised(case.get("file") or _suite_file(around), root)
    is_module = result == "failed" and _is_module(case, name, place, root)
    suites = [element for element in around if local_name(element) == "testsuite"]
    if _is_nodes(place, suites) and not is_module:  # it nests its suites, and since 24 names files
        names = (*(suite.get("name") or "" for suite in suites), name)
        id = f"{file or _NODE_CLASS}::{' > '.join(names)}".replace("&quot;", '"')  # which node 20 writes twice
    elif is_module:
        id = name
    else:
        id = f"{place or file}::{name}" if place or file else name
    failure = _kind(case) if result == "failed" else None
    return ReportedTest(normalised(id, root), result, failure, is_module, file)


def _is_nodes(place: str, suites: list[Element]) -> bool:
    """Whether node wrote this: its class is always the same, or since 24 the name of the suite around."""
    if place == _NODE_CLASS:
        return True
    return any(suite.get("disabled") and suite.get("hostname") and suite.get("name") == place for suite in suites)


def _suite_file(around: tuple[Element, ...]) -> str:
    return next((element.get("file") or "" for element in reversed(around) if element.get("file")), "")


def _is_module(case: Element, name: str, place: str, root: str) -> bool:
    """Whether a failed test stands for a file that could not be loaded, as each runner writes it."""
    if place == _NODE_CLASS:
        return name.startswith(f"{root}/" if root else "/") or name.endswith(
            (".js", ".mjs", ".cjs", ".ts", ".mts")
        )
    if place == name:  # vitest; jest-junit has both alike for each test, but no file's name
        return name.rpartition(".")[2] in ("js", "mjs", "cjs", "ts", "mts", "jsx", "tsx") and " " not in name
    return not place and any(child.get("message") == "collection failure" for child in _failures(case))  # pytest


def _result(case: Element) -> CaseResult:
    kinds = {local_name(child) for child in case}
    if any(local_name(child) == "skipped" and child.get("type") == "todo" for child in case):
        return "skipped"  # node runs such a test, and does not mind if it fails
    if any(child.get("type") not in _HARMLESS for child in _failures(case)):
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"


def _failures(case: Element) -> Iterator[Element]:
    return (child for child in case if local_name(child) in _FAILURES)


def _kind(case: Element) -> FailureKind:
    """The kind of a test's failures: of several, the one that proves least."""
    kinds = {_kind_of_failure(child, case.get("name") or "") for child in _failures(case)}
    return next(kind for kind in ("error", "missing", "assertion") if kind in kinds or kind == "assertion")


def _kind_of_failure(failure: Element, name: str) -> FailureKind:
    message, text, exception = failure.get("message") or "", failure.text or "", failure.get("type") or ""
    message = message.removeprefix('failed on setup with "').removeprefix('failed on teardown with "')
    if exception in ("testCodeFailure", "hookFailed", "uncaughtException"):  # node: its text has the cause
        message = ""
    elif not message or message in ("collection failure", "Failed", "test failure"):
        message = ""
        # The first line of phpunit is the test.
        text = "\n".join(line for line in text.splitlines() if not line.endswith(f"::{name}"))
    elif text.lstrip().startswith(message):  # nextest: the message is the beginning
        message = ""
    if text.lstrip().startswith("=== RUN "):
        return kind_of_go_failure(text)
    return kind_of_failure(message or text, exception if _is_type(exception) else "")


def _is_type(exception: str) -> bool:
    return exception.endswith(("Error", "Exception", "Failure", "Assertion"))


def kind_of_go_failure(text: str) -> FailureKind:
    """The kind of a failed Go test. Go has no assertions: a test that says what was wrong is one."""
    if any(line.lstrip().startswith(("panic: ", "fatal error: ")) for line in text.splitlines()):
        return "error"
    says = (line.strip() for line in text.splitlines())
    return "assertion" if any(line and not line.startswith(("=== ", "--- ")) for line in says) else "error"
