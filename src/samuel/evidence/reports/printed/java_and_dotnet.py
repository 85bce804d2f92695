"""What Maven's surefire, JUnit's console launcher, Gradle and dotnet print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.printed.lines import blocks
from samuel.evidence.reports.suite import CaseResult, ReportedTest, SuiteReport, suite_report

# surefire
_RUN = re.compile(
    r"(?:\[\w{4,7}\] )?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})"
    r"(, Time.*)?$"
)
_SUREFIRE_TEST = re.compile(
    r"(?:\[ERROR\] )?(?:([\w.$]{1,300})\.([\w$]\S{0,300}) -- |(\S{1,300})\(([\w.$]{1,300})\) {1,3})"
    r"Time elapsed: [\d.,]{1,20} s(?:ec)? {1,3}<<< (?:FAILURE|ERROR)!$"
)
_SUREFIRE_END = re.compile(r"\[(?:INFO|ERROR|WARNING)\]|Tests run: |Results ?:|Running ")

# JUnit's console launcher
_CONSOLE_TOTAL = re.compile(r"\[\s{0,12}(\d{1,9}) tests (found|skipped|started|successful|failed)\s{1,12}\]$")
_CONSOLE_TEST = re.compile(
    r"\s{1,12}MethodSource \[className = '([^']{1,300})', methodName = '([^']{1,300})'(.*)\]$"
)
_PARAMETERS = re.compile(r"methodParameterTypes = '([^']{0,300})'")
_CONSOLE_END = re.compile(r"Test run finished|\s{2}\S")

# Gradle
_GRADLE_TOTALS = re.compile(r"(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$")
_GRADLE_TEST = re.compile(r"(\S{1,300}) > (.{1,500}) (FAILED|PASSED|SKIPPED)$")
_GRADLE_END = re.compile(r"\S")
_WORDS: dict[str, CaseResult] = {"FAILED": "failed", "PASSED": "passed", "SKIPPED": "skipped"}

# dotnet
_DOTNET_TOTALS = re.compile(
    r"(?:Passed|Failed|Skipped)!\s{1,3}- Failed:\s{1,12}(\d{1,9}), Passed:\s{1,12}(\d{1,9}),"
    r" Skipped:\s{1,12}(\d{1,9}),"
)
_DOTNET_TOTAL = re.compile(
    r"\s{0,5}(total|failed|succeeded|skipped|Total tests|Passed|Failed|Skipped): (\d{1,9})$"
)
_DOTNET_TEST = re.compile(
    r"\s{0,4}(Passed|Failed|Skipped|passed|failed|skipped) (\S.{0,700}?) [\[(](?:< )?[\d.:, msh]{1,30}[\])]$"
)
_DOTNET_END = re.compile(r"\s{0,4}(?:Total tests|Test Run |Passed!|Failed!|Test run summary|Results File)")
_DOTNET_NONE = re.compile(r"No test (?:is available|matches the given testcase filter)|Zero tests ran")


def read_surefire(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What Maven printed: the failures of each class, and the totals of each module."""
    runs = [match for line in lines if (match := _RUN.match(line))]
    if not runs:
        return None
    totals = [match for match in runs if not match[5]] or runs
    tests = []
    for match, text in blocks(lines, _SUREFIRE_TEST, _SUREFIRE_END):
        id = f"{match[1]}::{match[2]}" if match[1] else f"{match[4]}::{match[3]}"
        tests.append(ReportedTest(id, "failed", kind_of_failure(text)))
    failed = sum(int(match[2]) + int(match[3]) for match in totals)
    ran = sum(int(match[1]) - int(match[4]) for match in totals)
    return suite_report("maven", tests, ran=ran, failed=failed, lists_passed=ran == 0, is_printed=True)


def read_junit_console(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What JUnit's console launcher printed. Its ids are those of the XML that it writes."""
    numbers = {match[2]: int(match[1]) for line in lines if (match := _CONSOLE_TOTAL.match(line))}
    if "started" not in numbers:
        return None
    tests = []
    for match, text in blocks(lines, _CONSOLE_TEST, _CONSOLE_END):
        parameters = _PARAMETERS.search(match[3])
        id = f"{match[1]}::{match[2]}({parameters[1] if parameters else ''})"
        tests.append(ReportedTest(id, "failed", kind_of_failure(text)))
    ran = numbers["started"]
    return suite_report(
        "junit", tests, ran=ran, failed=numbers.get("failed", 0), lists_passed=ran == 0, is_printed=True
    )


def read_gradle(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What Gradle printed. It counts tests only if one failed, and names passed ones only if it is told to."""
    totals = [match for line in lines if (match := _GRADLE_TOTALS.match(line))]
    tests = []
    for match, text in blocks(lines, _GRADLE_TEST, _GRADLE_END):
        result = _WORDS[match[3]]
        id = f"{match[1]}::{match[2]}"
        tests.append(ReportedTest(id, result, kind_of_failure(text) if result == "failed" else None))
    if not totals and (not tests or not any(line.startswith("> Task :") for line in lines)):
        return None
    ran = sum(int(match[1]) - int(match[3] or 0) for match in totals) if totals else None
    failed = sum(int(match[2] or 0) for match in totals)
    return suite_report("gradle", tests, ran=ran, failed=failed, lists_passed=False, is_printed=True)


def read_dotnet(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What `dotnet test` printed, by VSTest and by the newer testing platform."""
    ran, failed = _dotnet_totals(lines)
    if ran is None:
        return None
    tests = []
    for match, text in blocks(lines, _DOTNET_TEST, _DOTNET_END):
        result = _WORDS[match[1].upper()]
        message = text.partition("Stack Trace:")[0].replace("Error Message:", "")
        failure = kind_of_failure(message) if result == "failed" else None
        tests.append(ReportedTest(match[2], result, failure))
    named = sum(test.result == "passed" for test in tests)
    return suite_report(
        "dotnet", tests, ran=ran, failed=failed, lists_passed=named >= ran - failed, is_printed=True
    )


def _dotnet_totals(lines: Sequence[str]) -> tuple[int | None, int]:
    """How many tests ran and failed; None for an output that is not dotnet's."""
    projects = [match for line in lines if (match := _DOTNET_TOTALS.search(line))]
    if projects:
        failed = sum(int(match[1]) for match in projects)
        return failed + sum(int(match[2]) for match in projects), failed
    numbers = dict(_dotnet_numbers(lines))
    if "total" in numbers:
        return numbers["total"] - numbers.get("skipped", 0), numbers.get("failed", 0)
    return (0 if any(map(_DOTNET_NONE.match, lines)) else None), 0


def _dotnet_numbers(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The numbers of the summary, which begins with a line of its own."""
    is_summary = False
    for line in lines:
        is_summary = is_summary or line.startswith(("Test run summary:", "Total tests:", "Test Run "))
        if is_summary and (match := _DOTNET_TOTAL.match(line)):
            yield ("total" if match[1] == "Total tests" else match[1].lower()), int(match[2])
