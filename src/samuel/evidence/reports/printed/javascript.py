"""What jest, vitest, mocha and ava print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.evidence.reports.failure_kinds import kind_of_failure, kind_of_thrown_object
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.printed.lines import blocks, counts
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, suite_report

_COUNT = re.compile(r"(\d{1,9}) (failed|passed|skipped|todo|total)\b")
_NO_TESTS = re.compile(r"No tests? (?:files? )?found, exiting with code|No test suite found")

# jest
_JEST_FILE = re.compile(r"\s?(PASS|FAIL)\s{1,3}(?:\S.{0,200} )?(\S{1,500}?)(?: \([\d.]{1,12} m?s\))?$")
_JEST_TOTALS = re.compile(r"Tests:\s{1,12}(.{1,200}\d total)$")
_JEST_FAILURE = re.compile(r"  ● (.{1,1500})$")
_JEST_END = re.compile(r"\s?(?:PASS|FAIL) |Test Suites: |Summary of all failing tests")
_JEST_LINE = re.compile(r"(\s{2,80})(?:([✓✕√×○✎]) )?(?:skipped |todo )?(\S.{0,600}?)(?: \([\d.]{1,12} m?s\))?$")

# vitest
_VITEST_TOTALS = re.compile(r"\s{1,12}Tests {2}(?:(.{1,200}) \(\d{1,9}\)|no tests)$")
_VITEST_FAILURE = re.compile(r" FAIL {2}(?:\|[^|]{1,100}\| )?(\S.{0,1500})$")
_VITEST_END = re.compile(r"⎯{3,}|\s{1,12}Test Files ")
_VITEST_LINE = re.compile(r" ([✓×↓□]) (?:\|[^|]{1,100}\| )?(\S{1,500}? > .{1,1000}?)(?: \d[\d.]{0,12}m?s)?$")

# mocha
_MOCHA_TOTALS = re.compile(r"\s{0,8}(\d{1,9}) (passing|pending|failing)\b")
_MOCHA_LINE = re.compile(r"( {2,80})(?:([✔✓-]|\d{1,6}\)) )?(\S.{0,600}?)(?: \(\d{1,9}ms\))?$")
_MOCHA_FAILURE = re.compile(r"  (\d{1,6})\) (\S.{0,600})$")

# ava
_AVA_TOTALS = re.compile(r"  (\d{1,9}) (?:(?:known )?tests? (passed|failed|skipped|todo)|uncaught (exceptions?))$")
_AVA_LINE = re.compile(
    r"  (?:(✔)|(✘ \[fail\]:|✖)|- \[(skip|todo)\]) (\S.{0,1000}?)(?: \([\d.]{1,12}m?s\))?\s{0,9}$"
)
_AVA_UNCAUGHT = re.compile(r"  Uncaught exception in (\S{1,500})$")
_AVA_END = re.compile(r"  [✔✘─-]")


def read_jest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What jest printed by its default reporter, and with `--verbose`."""
    totals = [counts(match[1], _COUNT) for line in lines if (match := _JEST_TOTALS.match(line))]
    if not totals:
        return _none_ran("jest", lines)
    tests = [*_jest_failures(lines, root), *_jest_lines(lines, root)]
    return _report("jest", tests, totals)


def _jest_failures(lines: Sequence[str], root: str) -> Iterator[ReportedTest]:
    file = ""
    start = 0
    for number, line in enumerate((*lines, "Test Suites: ")):
        if _JEST_END.match(line):
            for failure, text in blocks(lines[start:number], _JEST_FAILURE, re.compile(r"(?!)")):
                if failure[1] == "Test suite failed to run":
                    yield ReportedTest(file, "failed", kind_of_failure(text), is_module=True, file=file)
                elif failure[1] not in ("Console", "Cannot log after tests are done.") and file:
                    id = f"{file}::{failure[1].replace(' › ', ' > ')}"
                    yield ReportedTest(id, "failed", kind_of_failure(text), file=file)
            start = number + 1
            if match := _JEST_FILE.match(line):
                file = normalised(match[2], root).removeprefix("./")


def _jest_lines(lines: Sequence[str], root: str) -> Iterator[ReportedTest]:
    """The tests that did not fail, from the tree that `--verbose` prints below the name of a file."""
    file = ""
    names: list[str] = []
    for line in lines:
        if match := _JEST_FILE.match(line):
            file, names = normalised(match[2], root).removeprefix("./"), []
        elif not line.strip() or line.startswith("  ●"):
            file = ""
        elif file and (match := _JEST_LINE.match(line)):
            depth = len(match[1]) // 2 - 1
            if match[2] is None:
                names[depth:] = [match[3]]
            elif match[2] not in "✕×":
                result: CaseResult = "passed" if match[2] in "✓√" else "skipped"
                yield ReportedTest(f"{file}::{' > '.join((*names[:depth], match[3]))}", result, file=file)


def read_vitest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What vitest printed by its default, verbose, dot and minimal reporters."""
    totals = [counts(match[1] or "", _COUNT) for line in lines if (match := _VITEST_TOTALS.match(line))]
    if not totals:
        return _none_ran("vitest", lines)
    tests = []
    for failure, text in blocks(lines, _VITEST_FAILURE, _VITEST_END):
        file, _, name = failure[1].partition(" > ")
        file = normalised(file.partition(" [ ")[0], root)
        if name:
            tests.append(ReportedTest(f"{file}::{name}", "failed", kind_of_failure(text), file=file))
        else:
            tests.append(ReportedTest(file, "failed", kind_of_failure(text), is_module=True, file=file))
    for line in lines:
        if (match := _VITEST_LINE.match(line)) and match[1] != "×":
            file, _, name = match[2].partition(" > ")
            result: CaseResult = "passed" if match[1] == "✓" else "skipped"
            tests.append(ReportedTest(f"{file}::{name}", result, file=file))
    return _report("vitest", tests, totals)


def read_mocha(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What mocha printed by its spec and dot reporters."""
    starts = [number for number, line in enumerate(lines) if _MOCHA_TOTALS.match(line) and "passing" in line]
    if not starts:
        unloaded = [line for line in lines if line.lstrip().startswith("Exception during run: ")]
        text = "\n".join(lines).partition("Exception during run: ")[2]
        test = ReportedTest("mocha", "failed", kind_of_failure(text), is_module=True)
        return suite_report("mocha", [test], ran=0, lists_passed=False, is_printed=True) if unloaded else None
    numbers: dict[str, int] = {}
    for line in lines:
        if match := _MOCHA_TOTALS.match(line):
            numbers[match[2]] = numbers.get(match[2], 0) + int(match[1])
    tests = [*_mocha_failures(lines[starts[0] :]), *_mocha_tree(lines[: starts[0]])]
    totals = {"passed": numbers.get("passing", 0), "failed": numbers.get("failing", 0)}
    return _report("mocha", tests, [totals])


def _mocha_failures(lines: Sequence[str]) -> Iterator[ReportedTest]:
    """The list of failures: a number, the path of the test on lines of its own up to a colon, and the error."""
    for match, text in blocks(lines, _MOCHA_FAILURE, re.compile(r"(?!)")):
        names = [match[2].strip()]
        rest = text.split("\n")
        while not names[-1].endswith(":") and rest:
            names.append(rest.pop(0).strip())
        path = " > ".join(name for name in names if name).removesuffix(":")
        yield ReportedTest(path, "failed", kind_of_failure("\n".join(rest)))


def _mocha_tree(lines: Sequence[str]) -> Iterator[ReportedTest]:
    names: list[str] = []
    for line in lines:
        if match := _MOCHA_LINE.match(line):
            depth = len(match[1]) // 2 - 1
            if match[2] is None:
                names[depth:] = [match[3]]
            elif not match[2].endswith(")"):
                result: CaseResult = "skipped" if match[2] == "-" else "passed"
                yield ReportedTest(" > ".join((*names[:depth], match[3])), result)


def read_ava(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What ava printed."""
    results = [match for line in lines if (match := _AVA_LINE.match(line))]
    totals = [match for line in lines if (match := _AVA_TOTALS.match(line))]
    if not totals:
        none = any(line.startswith("  ✘ Couldn’t find any ") for line in lines)
        return suite_report("ava", _ava_unloaded(lines, root), ran=0, is_printed=True) if none else None
    headings = {line[2:]: number for number, line in enumerate(lines) if re.match(r"  \S", line)}
    tests = list(_ava_unloaded(lines, root))
    for match in results:
        if match[2]:
            title = next((title for title in _prefixes(match[4]) if title in headings), match[4])
            start = headings.get(title, len(lines)) + 1
            tests.append(ReportedTest(title, "failed", _ava_kind(lines[start : start + 80])))
        else:
            tests.append(ReportedTest(match[4], "passed" if match[1] else "skipped"))
    numbers: dict[str, int] = {}
    for match in totals:
        word = match[2] or "uncaught"
        numbers[word] = numbers.get(word, 0) + int(match[1])
    named = sum(test.result == "passed" for test in tests)
    passed = max(numbers.get("passed", 0), named)
    return _report("ava", tests, [{"passed": passed, "failed": numbers.get("failed", 0)}])


def _ava_unloaded(lines: Sequence[str], root: str) -> Iterator[ReportedTest]:
    for match, text in blocks(lines, _AVA_UNCAUGHT, _AVA_END):
        file = normalised(match[1], root)
        yield ReportedTest(file, "failed", kind_of_failure(text), is_module=True, file=file)


def _prefixes(text: str) -> Iterator[str]:
    """The text, and shorter ones without their last words: ava writes a message behind the title."""
    words = text.split(" ")
    for count in range(len(words), 0, -1):
        yield " ".join(words[:count])


def _ava_kind(lines: Sequence[str]) -> FailureKind:
    """How a test failed, from the lines below its title. A failed assertion is shown without an exception."""
    text: list[str] = []
    for line in lines:
        if line.startswith("  ─") or text[-3:] == ["", "", ""]:
            break
        text.append(line)
    shown_text = "\n".join(text)
    if "  Error thrown in test:" in text:
        return kind_of_thrown_object(shown_text)
    return kind_of_failure(shown_text)


def _report(runner: str, tests: Sequence[ReportedTest], totals: Sequence[dict[str, int]]) -> SuiteReport:
    passed = sum(numbers.get("passed", 0) for numbers in totals)
    failed = sum(numbers.get("failed", 0) for numbers in totals)
    named = len({test.id for test in tests if test.result == "passed"})
    return suite_report(
        runner, tests, ran=passed + failed, failed=failed, lists_passed=named >= passed, is_printed=True
    )


def _none_ran(runner: str, lines: Sequence[str]) -> SuiteReport | None:
    is_vitest = any(line.startswith(" RUN  v") for line in lines)
    if is_vitest == (runner == "vitest") and any(map(_NO_TESTS.match, lines)):
        return suite_report(runner, (), ran=0, is_printed=True)
    return None
