"""Reading the whole output of a check, whichever runners printed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samuel.evidence.reports.build_errors import build_errors
from samuel.evidence.reports.go_json import read_go_json
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.json_reports import read_json_report
from samuel.evidence.reports.printed.go import read_go
from samuel.evidence.reports.printed.java_and_dotnet import (
    read_dotnet,
    read_gradle,
    read_junit_console,
    read_surefire,
)
from samuel.evidence.reports.printed.javascript import read_ava, read_jest, read_mocha, read_vitest
from samuel.evidence.reports.printed.lines import MOST_TEXT, least_proof, shown_lines
from samuel.evidence.reports.printed.node import kind_of_file, read_node_spec
from samuel.evidence.reports.printed.prove import read_prove
from samuel.evidence.reports.printed.python_runners import read_pytest, read_unittest
from samuel.evidence.reports.printed.ruby_and_php import read_minitest, read_phpunit, read_rspec
from samuel.evidence.reports.printed.rust import read_libtest, read_nextest
from samuel.evidence.reports.suite import ReportedTest, SuiteReport, suite_report
from samuel.evidence.reports.tap import read_tap

BUILD = "build"
"""The runner of a report about a compiler's errors, where no test runner is known to have asked for the build."""

LineReader = Callable[[Sequence[str], str], SuiteReport | None]

READERS: tuple[LineReader, ...] = (
    *(read_pytest, read_unittest),
    *(read_libtest, read_nextest, read_go),
    *(read_node_spec, read_jest, read_vitest, read_mocha, read_ava),
    *(read_rspec, read_minitest, read_phpunit),
    *(read_surefire, read_junit_console, read_gradle, read_dotnet),
    read_prove,
)
_INSIDE = {"tap": "prove", "cargo": "nextest"}  # runners whose output another one shows
_BUILDS = ("cargo", "nextest", "go-test")  # they name what did not build themselves


def read_output(text: str, root: str = "", *, is_cut: bool = False) -> list[SuiteReport]:
    """What each runner says in an output (standard output and error together, with or without colours).

    `root` is the directory of the run, which is left out of ids. `is_cut`: only the end of the output is there, so
    counts are lower bounds, none is not a count, and an id that is absent says nothing.
    """
    lines = shown_lines(text)
    output = "\n".join(lines)
    reports = _machine_reports(text, lines, root)
    runners = {report.runner for report in reports}
    for reader in READERS:
        if (report := reader(lines, root)) is not None and report.runner not in runners:
            reports.append(report)
    runners = {report.runner for report in reports}
    reports = [report for report in reports if _INSIDE.get(report.runner) not in runners]
    if not any(report.runner in _BUILDS for report in reports) and (build := _build_report(output, root)):
        reports.append(build)
    return [_of_part(report) for report in reports] if is_cut else reports


def says_that_none_ran(text: str, *, is_cut: bool = False) -> bool:
    """Whether a runner printed that it ran no test, and none printed that it ran one or may have."""
    reports = [report for report in read_output(text, is_cut=is_cut) if report.runner != BUILD]
    return bool(reports) and all(report.ran == 0 and not report.failed for report in reports)


def _machine_reports(text: str, lines: Sequence[str], root: str) -> list[SuiteReport]:
    """Reports for machines in the output: TAP, the lines of `go test -json`, and one document of JSON."""
    reports = []
    if tap := read_tap("\n".join(lines), root):
        reports.append(_with_reasons(tap, lines))
    if '"Action":' in text and (go := read_go_json(text[-MOST_TEXT:].encode())):
        reports.append(go)
    if document := _document(text[-MOST_TEXT:].split("\n"), root):
        reports.append(document)
    return [report._replace(is_printed=True) for report in reports]


def _with_reasons(tap: SuiteReport, lines: Sequence[str]) -> SuiteReport:
    """The report with the reason why a file could not be loaded, which is in its output and not in the TAP."""
    tests = {
        id: test._replace(failure=kind_of_file(lines, id)) if test.is_module and test.failure == "error" else test
        for id, test in tap.tests.items()
    }
    return tap._replace(tests=tests)


def _document(lines: Sequence[str], root: str) -> SuiteReport | None:
    """A report in JSON: a line of its own, or from a line `{` to a line `}`."""
    start = next((number for number, line in enumerate(lines) if line.startswith("{")), None)
    if start is None:
        return None
    if one_line := read_json_report(lines[start].encode(), root):
        return one_line
    end = next((number for number in range(start, len(lines)) if lines[number].rstrip() == "}"), start)
    return read_json_report("\n".join(lines[start : end + 1]).encode(), root)


def _build_report(output: str, root: str) -> SuiteReport | None:
    """The files that a compiler refused. Java's have the name of their class, as their tests do."""
    errors = build_errors(output)
    kinds = {error.kind for error in errors}
    kind = least_proof(kinds)
    files = dict.fromkeys(normalised(error.file, root) for error in errors)
    tests = [ReportedTest(_module(file), "failed", kind, is_module=True, file=file) for file in files]
    return suite_report(BUILD, tests, lists_passed=False, failed=1, is_printed=True) if errors else None


def _module(file: str) -> str:
    _, is_java, name = file.partition("src/test/java/")
    return name.removesuffix(".java").replace("/", ".") if is_java else file or BUILD


def _of_part(report: SuiteReport) -> SuiteReport:
    """A report as it may be taken if the beginning of the output is missing."""
    return report._replace(ran=report.ran or None, lists_passed=False)
