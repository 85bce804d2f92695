"""What cargo prints: the results of libtest and of nextest, and the errors of the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samuel.evidence.reports.build_errors import kind_of_build_errors
from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.printed.lines import blocks
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, suite_report

_BINARY = re.compile(
    r"\s{0,12}(?:Running .{0,300}\((?:.{0,300}/)?([\w-]{1,200}?)(?:-[0-9a-f]{16})?\)|Doc-tests (\S+))$"
)
_RUNNING = re.compile(r"running (\d{1,9}) tests?$")
_RESULT = re.compile(r"test (.{1,600}?)(?: - (?:should panic|compile(?: fail)?))? \.\.\. (ok|FAILED|ignored)\b")
_QUIET_FAILURE = re.compile(r"(\S.{0,600}?) --- FAILED$")
_OUTPUT = re.compile(r"---- (.{1,600}) (?:stdout|stderr) ----$")
_OUTPUT_END = re.compile(r"failures:$|test result: ")
_LISTED = re.compile(r" {4}(\S.{0,600})$")
_TOTALS = re.compile(r"test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed;")
_NOT_COMPILED = re.compile(
    r"error: could not compile `([^`]{1,200})`(?: \((?:(test|bin|example|bench) \"([^\"]{1,200})\")?)?"
)
_RESULTS: dict[str, CaseResult] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}

_NEXTEST = re.compile(
    r"\s{0,12}(?:TRY \d{1,3} )?(PASS|FAIL|SIGABRT|SIGSEGV|TIMEOUT|LEAK|SKIP|FLAKY \d{1,3}/\d{1,3})"
    r" \[[ >\d.s]{1,20}\] (?:\(\s{0,8}\d{1,9}/\d{1,9}\) )?(\S{1,200}) (\S{1,500})$"
)
_NEXTEST_OUTPUT = re.compile(
    r"-{2,} (?:TRY \d{1,3} )?STD(?:OUT|ERR): \s{0,30}(\S{1,200}) (\S{1,500}) \s{0,30}-{2,}$"
)
_NEXTEST_TOTALS = re.compile(
    r"\s{0,12}Summary \[[ \d.s]{1,20}\] \s{0,12}(?:\d{1,9}/)?(\d{1,9}) tests? run: (.{0,200})$"
)
_NEXTEST_FAILED = re.compile(r"(\d{1,9}) (?:failed|timed out|exec failed)")


class _Suite(NamedTuple):
    binary: str
    lines: list[str]


def read_libtest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What `cargo test` printed. The id of a test has the name of its binary in front, where that is printed."""
    suites = list(_suites(lines))
    unbuilt = list(_unbuilt(lines))
    if not suites and not unbuilt:
        return None
    tests = [test for suite in suites for test in _tests(suite, root)]
    totals = [match for line in lines if (match := _TOTALS.match(line))]
    passed = sum(int(match[1]) for match in totals)
    failed = sum(int(match[2]) for match in totals)
    finished = len({test.id for test in tests if test.result != "skipped"})  # without totals if it ended itself
    named = sum(test.result == "passed" for test in tests)
    return suite_report(
        "cargo",
        [*tests, *unbuilt],
        ran=max(passed + failed, finished),
        failed=failed,
        lists_passed=named >= passed and not unbuilt,
        is_printed=True,
    )


def _suites(lines: Sequence[str]) -> Iterator[_Suite]:
    """The output of each binary. Where the names of binaries come apart from their tests, no test gets one."""
    is_apart = _names_come_apart(lines)
    name = ""
    suite: _Suite | None = None
    for line in lines:
        if binary := _BINARY.match(line):
            name = f"doc {binary[2]}" if binary[2] else binary[1].replace("-", "_")
        elif _RUNNING.match(line):
            if suite:
                yield suite
            suite, name = _Suite("" if is_apart else name, []), ""
        elif suite:
            suite.lines.append(line)
    if suite:
        yield suite


def _names_come_apart(lines: Sequence[str]) -> bool:
    """Whether two binaries are named before the tests of the first one: standard error was put in front."""
    names = 0
    for line in lines:
        if _BINARY.match(line):
            names += 1
        elif _RUNNING.match(line):
            names = 0
        if names > 1:
            return True
    return False


def _tests(suite: _Suite, root: str) -> Iterator[ReportedTest]:
    kinds: dict[str, FailureKind] = {}
    for match, text in blocks(suite.lines, _OUTPUT, _OUTPUT_END):
        kinds[match[1]] = kind_of_failure(text)
    for line in suite.lines:
        if result := _RESULT.match(line):
            yield _test(suite.binary, result[1], _RESULTS[result[2]], kinds, root)
        elif failure := _QUIET_FAILURE.match(line):
            yield _test(suite.binary, failure[1], "failed", kinds, root)
    for name in _listed_failures(suite.lines):
        yield _test(suite.binary, name, "failed", kinds, root)


def _listed_failures(lines: Sequence[str]) -> Iterator[str]:
    """The names below the last `failures:`: all that is left of a long output."""
    starts = [number for number, line in enumerate(lines) if line == "failures:"]
    for line in lines[starts[-1] + 1 :] if starts else ():
        if listed := _LISTED.match(line):
            yield listed[1]
        elif line.startswith("test result:"):
            break


def _test(binary: str, name: str, result: CaseResult, kinds: dict[str, FailureKind], root: str) -> ReportedTest:
    id = f"{binary}::{name}" if binary else name
    file = name.partition(" - ")[0] if " - " in name else ""  # a test in documentation
    failure = kinds.get(name, "error") if result == "failed" else None
    return ReportedTest(normalised(id, root), result, failure, file=normalised(file, root))


def _unbuilt(lines: Sequence[str]) -> Iterator[ReportedTest]:
    matches = [match for line in lines if (match := _NOT_COMPILED.match(line))]
    kind = kind_of_build_errors("\n".join(lines)) if matches else None
    for match in matches:
        name = (match[3] or match[1]).replace("-", "_")
        yield ReportedTest(name, "failed", kind or "error", is_module=True)


def read_nextest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What `cargo nextest run` printed."""
    totals = [match for line in lines if (match := _NEXTEST_TOTALS.match(line))]
    if not totals:
        return None
    results = [match for line in lines if (match := _NEXTEST.match(line))]
    kinds = _nextest_kinds(lines)
    tests: list[ReportedTest] = []
    for match in results:
        id = f"{match[2]}::{match[3]}"
        result: CaseResult = "passed" if match[1].startswith(("PASS", "LEAK", "FLAKY")) else "failed"
        if match[1] == "SKIP":
            result = "skipped"
        if result == "passed" and any(test.id == id and test.result == "failed" for test in tests[-3:]):
            tests = [test for test in tests if test.id != id]  # it was tried again
        tests.append(ReportedTest(id, result, kinds.get(id, "error") if result == "failed" else None))
    ran = sum(int(match[1]) for match in totals)
    failed = sum(int(number) for match in totals for number in _NEXTEST_FAILED.findall(match[2]))
    passed = sum(test.result == "passed" for test in tests)
    return suite_report(
        "nextest", tests, ran=ran, failed=failed, lists_passed=passed >= ran - failed, is_printed=True
    )


def _nextest_kinds(lines: Sequence[str]) -> dict[str, FailureKind]:
    """How each test failed, from the output that nextest shows below the line of its result or below its name."""
    texts: dict[str, list[str]] = {}
    id = ""
    for line in lines:
        if match := _NEXTEST.match(line) or _NEXTEST_OUTPUT.match(line):
            *_, binary, name = match.groups()
            id = f"{binary}::{name}"
        elif id:
            texts.setdefault(id, []).append(line.strip())
    return {
        id: kind_of_failure("\n".join(text))
        for id, text in texts.items()
        if any("panicked at" in line or line.startswith("Error: ") for line in text)
    }
