"""What pytest and unittest print."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.printed.lines import blocks, counts, least_proof
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, suite_report

# pytest
_TOTALS = re.compile(r"(?:=+ )?((?:\d{1,9} [a-z]+(?: [a-z]+)?(?:, )?){1,12}|no tests ran) in \d[\d.]{0,20}s\b")
_COUNT = re.compile(r"(\d{1,9}) (failed|passed|skipped|xfailed|xpassed|errors?)\b")
_SUMMARY_START = re.compile(r"=+ short test summary info =+$")
_SUMMARY = re.compile(r"(FAILED|ERROR|PASSED|XFAIL|XPASS|SUBFAILED\S{0,300}) (\S.*)$")
_VERBOSE = re.compile(r"(\S.{0,600}?::.{1,600}?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?:\s.*)?$")
_XDIST = re.compile(r"\[gw\d{1,4}\] \[\s{0,2}\d{1,3}%\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*)$")
_SECTION = re.compile(r"_{2,} (?:ERROR (?:at (?:setup|teardown) of|collecting) )?(.{1,600}?) _{2,}$")
_END = re.compile(r"={3,} |-{3,} generated |!{3,} ")
_CONFTEST = re.compile(r"ImportError while loading conftest '([^']{1,500})'")
_SESSION = re.compile(
    r"=+ (?:test session starts|short test summary info) =+$|\d{1,9} tests? collected|collected \d"
)
_RESULTS: dict[str, CaseResult] = {"PASSED": "passed", "XPASS": "passed", "SKIPPED": "skipped", "XFAIL": "skipped"}

# unittest
_RAN = re.compile(r"Ran (\d{1,9}) tests? in ")
_OUTCOME = re.compile(r"(?:OK|FAILED)(?: \(([a-z]+(?: [a-z]+)?=\d.*)\))?$")
_OUTCOME_COUNT = re.compile(r"()([a-z]+(?: [a-z]+)?)=(\d{1,9})")
_TITLE = r"(\S{1,300}) \(([\w.<>]{1,500})\)"
_BLOCK = re.compile(rf"(?:ERROR|FAIL|UNEXPECTED SUCCESS): {_TITLE}")
_BLOCK_END = re.compile(r"={60,}$|Ran \d")
_VERBOSE_TITLE = re.compile(rf"\s{{0,20}}{_TITLE}")
_VERBOSE_RESULT = re.compile(r".{0,1500}\.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b")


def read_pytest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What pytest printed: its short summary, the lines of `-v`, and the text of each failure."""
    totals = [match[1] for line in lines if (match := _TOTALS.match(line))]
    unloaded = [match[1] for line in lines if (match := _CONFTEST.match(line))]
    if not unloaded and not ((totals and any(map(_SESSION.match, lines))) or any(map(_is_quiet_total, totals))):
        return None
    texts: dict[str, list[str]] = defaultdict(list)
    for section, text in blocks(lines, _SECTION, _END):
        marked = "\n".join(line for line in text.splitlines() if line.startswith("E "))
        # Parts of a test add what they are about to its name: ` (number=2)`, ` [message]`.
        texts[re.split(r" (?=[(\[])", section[1])[0]].append(marked or (text if text.startswith("[XPASS") else ""))
    start = next((number for number, line in enumerate(lines) if _SUMMARY_START.match(line)), 0)
    summary = [
        test for line in lines[start:] if _SUMMARY.match(line) and (test := _pytest_test(line, texts, root))
    ]
    ids = {test.id for test in summary}
    others = [test for line in lines if not _SUMMARY.match(line) and (test := _pytest_test(line, texts, root))]
    tests = [*summary, *(test for test in others if test.id not in ids)]
    if unloaded:
        text = "\n".join(line for line in lines if line.startswith("E "))
        path = normalised(unloaded[0], root)
        tests.append(ReportedTest(_dotted(path), "failed", kind_of_failure(text), is_module=True, file=path))
    numbers = [counts(total, _COUNT) for total in totals]
    passed = sum(number.get("passed", 0) for number in numbers)
    failed = sum(number.get(word, 0) for number in numbers for word in ("failed", "error", "errors"))
    ran = passed + sum(number.get(word, 0) for number in numbers for word in ("failed", "xpassed"))
    named = len({test.id for test in (*summary, *others) if test.result == "passed"})
    return suite_report(
        "pytest",
        tests,
        ran=ran if totals else 0,
        failed=failed,
        lists_passed=named >= passed,
        is_printed=True,
    )


def _is_quiet_total(total: str) -> bool:
    """Whether a line without `===` is pytest's: with `-q` it prints `3 passed in 0.1s` and nothing else."""
    return total.startswith("no tests ran") or bool(_COUNT.match(total))


def _pytest_test(line: str, texts: dict[str, list[str]], root: str) -> ReportedTest | None:
    word, rest, message = "", "", ""
    if match := _SUMMARY.match(line):
        word, (rest, message) = match[1], _split_summary(match[2])
    elif match := _XDIST.match(line):
        word, rest = match[1], match[2]
    elif match := _VERBOSE.match(line):
        word, rest = match[2], match[1]
    if not rest or (not message and " " in rest.partition("[")[0]):
        return None
    result = _RESULTS.get(word, "failed")
    path, _, name = rest.partition("::")
    is_module = not name and result == "failed"
    if not is_module and not name:
        return None
    id = _dotted(path) if is_module else _pytest_id(rest)
    title = path if is_module else ".".join(_names(name))
    failure = None
    if result == "failed":
        sections = texts.get(title, [])
        failure = least_proof(map(kind_of_failure, sections)) if any(sections) else kind_of_failure(message)
    return ReportedTest(normalised(id, root), result, failure, is_module, normalised(path, root))


def _split_summary(text: str) -> tuple[str, str]:
    """The id and the message of a line of the summary. The id may have ` - ` in its brackets."""
    start = text.find("] - ") if "[" in text.partition(" - ")[0] else -1
    if start >= 0:
        return text[: start + 1], text[start + 4 :]
    id, _, message = text.partition(" - ")
    return id, message


def _pytest_id(text: str) -> str:
    """The id that the same test has in pytest's XML: `tests.test_app.TestIt::test_one`."""
    path, _, rest = text.partition("::")
    *classes, name = _names(rest)
    return f"{'.'.join((_dotted(path), *classes))}::{name}"


def _names(text: str) -> list[str]:
    head, bracket, parameters = text.partition("[")
    names = head.split("::")
    names[-1] += bracket + parameters
    return names


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def read_unittest(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What unittest printed, with `-v` or without."""
    runs = [int(match[1]) for line in lines if (match := _RAN.match(line))]
    if not runs:
        return None
    tests = []
    for match, text in blocks(lines, _BLOCK, _BLOCK_END):
        body = text.partition("Traceback (most recent call last)")
        is_unexpected = match[0].startswith("UNEXPECTED")
        failure: FailureKind = "assertion" if is_unexpected else kind_of_failure("".join(body[1:]) or text)
        tests.append(_unittest_failure(match[1], match[2], failure))
    tests.extend(_verbose_tests(lines))
    outcomes = [match[1] for line in lines if (match := _OUTCOME.match(line)) and match[1]]
    numbers = [{word: int(count) for _, word, count in _OUTCOME_COUNT.findall(text)} for text in outcomes]
    failed = sum(
        number.get(word, 0) for number in numbers for word in ("failures", "errors", "unexpected successes")
    )
    skipped = sum(number.get(word, 0) for number in numbers for word in ("skipped", "expected failures"))
    ran = max(0, sum(runs) - skipped - sum(test.is_module for test in tests))
    named = len({test.id for test in tests if not test.is_module})
    return suite_report(
        "unittest", tests, ran=ran, failed=failed, lists_passed=named >= sum(runs), is_printed=True
    )


def _unittest_id(name: str, place: str) -> str:
    """`test_app.TestIt.test_one`; since Python 3.11 the place has the name in it already."""
    return place if place.endswith(f".{name}") else f"{place}.{name}"


def _unittest_failure(name: str, place: str, failure: FailureKind) -> ReportedTest:
    if "_FailedTest" in place or name in ("setUpClass", "setUpModule", "tearDownClass", "tearDownModule"):
        id = name if "_FailedTest" in place else place
        return ReportedTest(id, "failed", failure, is_module=True)
    return ReportedTest(_unittest_id(name, place), "failed", failure)


def _verbose_tests(lines: Sequence[str]) -> list[ReportedTest]:
    """The tests that did not fail, from lines like `test_one (test_app.TestIt.test_one) ... ok`.

    The result of a test with a docstring is in the line below, behind the docstring.
    """
    tests = []
    id = ""
    for line in lines:
        if title := _VERBOSE_TITLE.match(line):
            id = "" if "_FailedTest" in title[2] else _unittest_id(title[1], title[2])
        result = _VERBOSE_RESULT.match(line)
        if result and id and result[1] == "ok":
            tests.append(ReportedTest(id, "passed"))
        elif result and id and result[1] in ("skipped", "expected failure"):
            tests.append(ReportedTest(id, "skipped"))
        if result or not title:
            id = ""
    return tests
