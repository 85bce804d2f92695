"""What rspec, minitest and phpunit print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.json_reports import unloaded_spec
from samuel.evidence.reports.printed.lines import blocks
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, suite_report

# rspec
_RSPEC_TOTALS = re.compile(
    r"(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors?)?"
)
_RSPEC_FAILED = re.compile(r"rspec (?:\./)?(\S{1,300}?)(?::\d{1,9}|\[[\d:]{1,60}\]) # (.{1,1000})$")
_RSPEC_FAILURE = re.compile(r"  \d{1,6}\) (\S.{0,1000})$")
_RSPEC_END = re.compile(r"Finished in |Pending:|Failed examples:|Top ")
_RSPEC_TYPE = re.compile(r" {5}((?:[A-Z]\w{0,80}::){0,8}[A-Z]\w{0,80}):$")
_RSPEC_LOADING = re.compile(r"(An error occurred while loading .{1,500})$")
_RSPEC_LOADING_END = re.compile(r"Finished in |Run options|Randomized")

# minitest
_MINITEST_TOTALS = re.compile(
    r"(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors, (\d{1,9}) skips"
)
_MINITEST_BLOCK = re.compile(r"\s{0,4}\d{1,6}\) (Failure|Error|Skipped):$")
_MINITEST_NAME = re.compile(r"(\S{1,300}#\S{1,300}?)(?: \[.{0,300}\])?:$")
_MINITEST_VERBOSE = re.compile(r"(\S{1,300}#\S{1,300}) = \d[\d.]{0,12} s = ([.FES])$")

# phpunit
_PHPUNIT_GREEN = re.compile(r"OK \((\d{1,9}) tests?, \d{1,9} assertions?\)")
_PHPUNIT_TOTALS = re.compile(r"Tests: (\d{1,9}), Assertions: \d{1,9}(.{0,200})\.$")
_PHPUNIT_NUMBER = re.compile(r"(Errors|Failures|Skipped|Incomplete): (\d{1,9})")
_PHPUNIT_SECTION = re.compile(r"There (?:was|were) \d{1,9} (.{1,60}):$|--$|ERRORS!|FAILURES!|Tests: ")
_PHPUNIT_TEST = re.compile(r"\d{1,6}\) (\S{1,300}::.{1,700})$")
_PHPUNIT_DATA = re.compile(r"( with data set (?:\"[^\"]{0,300}\"|#\d{1,9}|@\S{1,100}))(?: ?\(.*\))?$")


def read_rspec(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What rspec printed. It names the file of each failed example at the end."""
    totals = [match for line in lines if (match := _RSPEC_TOTALS.match(line))]
    if not totals:
        return None
    kinds: dict[str, FailureKind] = {}
    start = next((number for number, line in enumerate(lines) if line == "Failures:"), len(lines))
    for match, text in blocks(lines[start:], _RSPEC_FAILURE, _RSPEC_END):
        kinds[match[1]] = _rspec_kind(text)
    tests = []
    for line in lines:
        if match := _RSPEC_FAILED.match(line):
            kind = kinds.pop(match[2], "error")
            tests.append(ReportedTest(f"{match[1]}::{match[2]}", "failed", kind, file=match[1]))
    for match, text in blocks(lines, _RSPEC_LOADING, _RSPEC_LOADING_END):
        tests.append(unloaded_spec(f"{match[1]}\n{text}"))
    ran = sum(int(match[1]) - int(match[3] or 0) for match in totals)
    failed = sum(int(match[2]) + int(match[4] or 0) for match in totals)
    return suite_report("rspec", tests, ran=ran, failed=failed, lists_passed=ran == 0, is_printed=True)


def _rspec_kind(text: str) -> FailureKind:
    """How an example failed. rspec names the class of an exception, but for an expectation that was not met."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if match := _RSPEC_TYPE.match(line):
            return kind_of_failure("\n".join(lines[number + 1 :]), match[1])
    return "assertion" if "Failure/Error:" in text else "error"


def read_minitest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What minitest printed, with `-v` or without."""
    totals = [match for line in lines if (match := _MINITEST_TOTALS.match(line))]
    if not totals:
        return None
    tests = list(_minitest_blocks(lines))
    for line in lines:
        if (match := _MINITEST_VERBOSE.match(line)) and match[2] in ".S":
            tests.append(ReportedTest(match[1].replace("#", "::"), "passed" if match[2] == "." else "skipped"))
    ran = sum(int(match[1]) - int(match[4]) for match in totals)
    failed = sum(int(match[2]) + int(match[3]) for match in totals)
    named = sum(test.result == "passed" for test in tests)
    return suite_report("rake", tests, ran=ran, failed=failed, lists_passed=named >= ran - failed, is_printed=True)


def _minitest_blocks(lines: Sequence[str]) -> Iterator[ReportedTest]:
    for match, text in blocks(lines, _MINITEST_BLOCK, _MINITEST_TOTALS):
        first, _, rest = text.partition("\n")
        if name := _MINITEST_NAME.match(first.strip()):
            result: CaseResult = "skipped" if match[1] == "Skipped" else "failed"
            failure: FailureKind | None = None
            if result == "failed":
                failure = "assertion" if match[1] == "Failure" else kind_of_failure(rest)
            yield ReportedTest(name[1].replace("#", "::"), result, failure)


def read_phpunit(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What phpunit printed."""
    green = [int(match[1]) for line in lines if (match := _PHPUNIT_GREEN.match(line))]
    totals = [match for line in lines if (match := _PHPUNIT_TOTALS.match(line))]
    if not green and not totals and not any(line.startswith("No tests executed!") for line in lines):
        return None
    tests = []
    for section, text in blocks(lines, _PHPUNIT_SECTION, re.compile(r"(?!)")):
        if section[1] in ("error", "errors", "failure", "failures"):
            for match, failure in blocks(text.splitlines(), _PHPUNIT_TEST, re.compile(r"(?!)")):
                tests.append(ReportedTest(_phpunit_id(match[1]), "failed", kind_of_failure(failure)))
    numbers = [{word: int(count) for word, count in _PHPUNIT_NUMBER.findall(match[2])} for match in totals]
    failed = sum(number.get(word, 0) for number in numbers for word in ("Errors", "Failures"))
    skipped = sum(number.get(word, 0) for number in numbers for word in ("Skipped", "Incomplete"))
    ran = sum(green) + sum(int(match[1]) for match in totals) - skipped
    return suite_report(
        "phpunit",
        [test._replace(id=normalised(test.id, root)) for test in tests],
        ran=ran,
        failed=failed,
        lists_passed=ran == 0,
        is_printed=True,
    )


def _phpunit_id(text: str) -> str:
    """The id that the same test has in phpunit's XML: with dots, and without the data of a data set."""
    place, _, name = text.partition("::")
    return f"{place.replace(chr(92), '.')}::{_PHPUNIT_DATA.sub(lambda match: match[1], name)}"
