"""What node's own test runner prints by its spec and dot reporters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.suite import CaseResult, FailureKind, ReportedTest, SuiteReport, suite_report

_TOTAL = re.compile(r"ℹ (tests|pass|fail|cancelled|skipped|todo) (\d{1,9})$")
_LINE = re.compile(r"(\s{0,80})([✔✖▶﹣⚠]) (.{1,1000}?)(?: \(\d[\d.]{0,20}ms\))?( # (?:SKIP|TODO|EXPECTED).*)?$")
_FAILING = re.compile(r"(?:✖ failing tests|Failed tests):$")
_FILE = re.compile(r"\.[cm]?[jt]sx?$")
_AROUND = 10  # lines around the name of a file in which the reason is, why it could not be loaded


def read_node_spec(lines: Sequence[str], root: str = "") -> SuiteReport | None:
    """What `node --test` printed, but for TAP. Ids are those of its XML: `test::a suite > a test`."""
    numbers: dict[str, int] = {}
    for line in lines:
        if match := _TOTAL.match(line):
            numbers[match[1]] = numbers.get(match[1], 0) + int(match[2])
    end = next((number for number, line in enumerate(lines) if _FAILING.match(line)), len(lines))
    if "pass" not in numbers and end == len(lines):
        return None
    failures = list(_tests(lines[end + 1 :], lines, {}, root))
    # Since 22 only the list at the end says why, and it leaves the suites out.
    reasons = {test.id.rpartition(" > ")[2].removeprefix("test::"): test for test in failures}
    tests = list(_tests(lines[:end], lines, reasons, root)) or failures  # the dot reporter has only the list
    failed = numbers.get("fail", 0) + numbers.get("cancelled", 0)
    named = sum(test.result == "passed" for test in tests)
    return suite_report(
        "node-test",
        tests,
        ran=numbers["pass"] + failed if "pass" in numbers else None,
        failed=failed,
        lists_passed="pass" in numbers and named >= numbers["pass"],
        is_printed=True,
    )


def _tests(
    lines: Sequence[str], output: Sequence[str], reasons: Mapping[str, ReportedTest], root: str
) -> Iterator[ReportedTest]:
    """The tests in a part of an output. `reasons` are those that failed, by their names."""
    names: list[str] = []  # the suites around
    counts: list[int] = [0]  # how many tests were reported below each depth
    for number, line in enumerate(lines):
        if not (match := _LINE.match(line)):
            continue
        depth, name = len(match[1]) // 2, match[3].strip()
        if match[2] == "▶":
            names[depth:] = [name]
            counts[depth + 1 :] = [0]
            continue
        counts += [0] * (depth + 2 - len(counts))
        is_suite = names[depth : depth + 1] == [name] and counts[depth + 1] > 0
        counts[depth + 1] = 0
        if is_suite:
            names[depth:] = []
            continue
        counts[depth] += 1
        text = "\n".join(_indented(lines[number + 1 : number + 80], len(match[1])))
        yield _test(match, (*names[:depth], name), text, output, reasons.get(normalised(name, root)), root)


def _test(
    match: re.Match[str],
    path: tuple[str, ...],
    text: str,
    output: Sequence[str],
    reason: ReportedTest | None,
    root: str,
) -> ReportedTest:
    result: CaseResult = "passed" if match[2] in "✔⚠" else "failed"
    if match[2] == "﹣" or match[4]:
        result = "skipped"
    id = f"test::{' > '.join(path)}"
    if result != "failed":
        return ReportedTest(id, result)
    if not text.strip() and reason is not None:
        return reason if reason.is_module else reason._replace(id=id)
    if len(path) == 1 and _FILE.search(path[0]) and "'test failed'" in text[:200]:
        file = normalised(path[0], root)
        return ReportedTest(file, "failed", kind_of_file(output, file), is_module=True, file=file)
    return ReportedTest(id, "failed", kind_of_failure(text))


def _indented(lines: Sequence[str], indent: int) -> Iterator[str]:
    """The lines that belong to a result: those that are further inside, up to the next result."""
    for line in lines:
        if _LINE.match(line) or (line.strip() and len(line) - len(line.lstrip()) <= indent):
            break
        yield line


def kind_of_file(lines: Sequence[str], file: str) -> FailureKind:
    """Why a file of tests could not be loaded: its process printed that, around the name of the file."""
    for number, line in enumerate(lines):
        if file in line and not _LINE.match(line):
            around = lines[max(0, number - _AROUND) : number + _AROUND]
            return kind_of_failure("\n".join(line.removeprefix("# ") for line in around))
    return "error"
