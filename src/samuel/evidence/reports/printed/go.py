"""What `go test` and gotestsum print, with `-v` or without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.evidence.reports.build_errors import kind_of_build_errors
from samuel.evidence.reports.junit_xml import kind_of_go_failure
from samuel.evidence.reports.printed.lines import blocks
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, suite_report

_PACKAGE = re.compile(r"(ok|FAIL|\?) {0,3}\t(\S{1,300})(?:\t(.*)| (\[.*\]))?$|(FAIL)\t(\S{1,300}) (\[.{1,60}\])$")
_TEST = re.compile(r"(\s{0,80})--- (PASS|FAIL|SKIP): (.{1,500}) \(\d[\d.]{0,20}s\)$")
_STARTED = re.compile(r"=== (?:RUN|CONT|NAME)\s{1,3}(.{1,500})$")
_GOTESTSUM = re.compile(
    r"DONE (?:\d{1,6} runs, )?(\d{1,9}) tests?(?:, (\d{1,9}) skipped)?(?:, (\d{1,9}) failures?)?"
)
_GOTESTSUM_FAILURE = re.compile(r"=== FAIL: (\S{1,300}) (.{1,500}) \(\d[\d.]{0,20}s\)$")
_GOTESTSUM_END = re.compile(r"=== |DONE \d")
_BUILD = re.compile(r"# (\S{1,300})(?: \[(\S{1,300})\])?$")
_RESULTS: dict[str, CaseResult] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
_NO_TESTS = ("[no tests to run]", "[no test files]")


def read_go(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What go printed. A package that passed without `-v` has an unknown number of tests."""
    packages = [match for line in lines if (match := _PACKAGE.match(line))]
    sums = [match for line in lines if (match := _GOTESTSUM.match(line))]
    if not packages and not sums:
        return None
    tests = list(_tests(lines))
    names = {test.id.partition("::")[0] for test in tests}
    passed = [match[2] for match in packages if match[1] == "ok" and not _has_no_tests(match[0])]
    is_counted = all(package in names for package in passed)
    ran: int | None = sum(test.result != "skipped" and not test.is_module for test in tests)
    if sums:
        ran = sum(int(match[1]) - int(match[2] or 0) for match in sums)
    elif not is_counted:
        ran = None
    failed = sum(int(match[3] or 0) for match in sums) or sum(match[0].startswith("FAIL") for match in packages)
    has_all = is_counted and any(test.result == "passed" for test in tests)
    return suite_report(
        "go-test", tests, ran=ran, failed=failed, lists_passed=has_all or ran == 0, is_printed=True
    )


def _has_no_tests(line: str) -> bool:
    return line.endswith(_NO_TESTS)


def _tests(lines: Sequence[str]) -> Iterator[ReportedTest]:
    """The tests of each package: its name comes in the line after them, but gotestsum writes it before each."""
    for match, text in blocks(lines, _GOTESTSUM_FAILURE, _GOTESTSUM_END):
        yield ReportedTest(f"{match[1]}::{match[2]}", "failed", kind_of_go_failure(text))
    if any(map(_GOTESTSUM.match, lines)):
        return
    start = 0
    packages = [(number, end_line) for number, line in enumerate(lines) if (end_line := _PACKAGE.match(line))]
    for end, package in packages:
        name, note = package[2] or package[6], f"{package[3] or ''}{package[4] or ''}{package[7] or ''}"
        yield from (test._replace(id=f"{name}::{test.id}") for test in _tests_of_package(lines[start:end]))
        if "[build failed]" in note or "[setup failed]" in note:
            yield ReportedTest(name, "failed", _build_kind(lines, name), is_module=True)
        start = end + 1
    yield from _tests_of_package(lines[start:])


def _tests_of_package(lines: Sequence[str]) -> Iterator[ReportedTest]:
    output = _output_of_tests(lines)
    for number, line in enumerate(lines):
        if test := _TEST.match(line):
            result = _RESULTS[test[2]]
            text = f"{output.get(test[3], '')}\n{_text_below(lines, number, test)}"
            yield ReportedTest(test[3], result, kind_of_go_failure(text) if result == "failed" else None)


def _output_of_tests(lines: Sequence[str]) -> dict[str, str]:
    """What each test of a package printed with `-v`."""
    texts: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if started := _STARTED.match(line):
            name = started[1]
        elif _TEST.match(line):
            name = ""
        elif name:
            texts.setdefault(name, []).append(line)
    return {name: "\n".join(text) for name, text in texts.items()}


def _text_below(lines: Sequence[str], number: int, test: re.Match[str]) -> str:
    """What a failed test says below its line; if a part of it failed, that is what it says."""
    text = []
    for line in lines[number + 1 : number + 60]:
        if (other := _TEST.match(line)) and len(other[1]) > len(test[1]):
            return "a part failed"
        if other or _PACKAGE.match(line) or line in ("FAIL", "PASS") or _STARTED.match(line):
            break
        text.append(line)
    return "\n".join(text)


def _build_kind(lines: Sequence[str], package: str) -> FailureKind:
    """Why a package does not build, from the lines below its name."""
    text: list[str] = []
    is_inside = False
    for line in lines:
        if match := _BUILD.match(line):
            is_inside = package in (
                match[1],
                (match[2] or "").removesuffix(".test"),
                match[1].removesuffix("_test"),
            )
        elif is_inside:
            if _PACKAGE.match(line) or _TEST.match(line):
                is_inside = False
            else:
                text.append(line)
    return kind_of_build_errors("\n".join(text)) or "error"
