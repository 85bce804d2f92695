"""Reports in the Test Anything Protocol, versions 12 to 14: of node, tape, prove, bats, mocha, ava and vitest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from samuel.evidence.reports.failure_kinds import kind_of_failure, kind_of_thrown_object
from samuel.evidence.reports.ids import normalised
from samuel.evidence.reports.suite import (
    MAX_TESTS,
    CaseResult,
    FailureKind,
    ReportedTest,
    SuiteReport,
    suite_report,
)

LONGEST_LINE = 2000
MAX_TEXT = 16 << 20
_RESULT = re.compile(r"(\s{0,80})(not )?ok\b(?: (\d{1,9}))?(?: ?- | )?(.*)$")
_DIRECTIVE = re.compile(r"(?:^|\s)# ?(skip|todo)\b.*$", re.IGNORECASE)
_TIME = re.compile(r"\s# time=\S{1,40}\s?")
_PLAN = re.compile(r"\s{0,80}1\.\.(\d{1,9})\b")
_SUBTEST = re.compile(r"(\s{0,80})# Subtest: (.*)$")
_HEADING = re.compile(r"# (?!tests |pass |fail |skip|todo|Looks like |Failed |Subtest)(\w.*)$")
_FILE = re.compile(r"(\S{1,300}) \.{2,60} ?(?:ok|skipped.*)?$")  # prove names each file
_YAML_FIELD = re.compile(r"\s{0,80}(name|error|message|code|failureType|type|stack|operator)\s?: ?(.*)$")
_STRUCTURE = re.compile(r"^\s{0,80}(?:not )?ok\b(?: \d| -|$)", re.MULTILINE)


class _Line(NamedTuple):
    depth: int
    path: tuple[str, ...]
    is_failed: bool
    directive: str
    diagnosis: str
    has_parts: bool
    has_failed_parts: bool


def looks_like_tap(text: str) -> bool:
    """Whether a text has results of this protocol: a version or a plan, and a line of a test."""
    has_head = "TAP version 1" in text or re.search(r"^1\.\.\d{1,9}\b", text, re.MULTILINE) is not None
    return has_head and (bool(_STRUCTURE.search(text)) or re.search(r"^1\.\.0\b", text, re.MULTILINE) is not None)


def read_tap(text: str, root: str = "") -> SuiteReport | None:
    """The tests of a report; None if the text is not one."""
    if len(text) > MAX_TEXT or not looks_like_tap(text):
        return None
    is_node = "# Subtest: " in text
    tests = [test for line in _results(text.splitlines(), has_headings=not is_node) if (test := _test(line, root))]
    return suite_report("node-test" if is_node else "tap", tests)


def _results(lines: Sequence[str], *, has_headings: bool) -> list[_Line]:
    results: list[_Line] = []
    names: list[str] = []  # the suites around, outermost first: announced by `# Subtest`, or opened by a brace
    braces: list[int] = []  # how deep the open ones are
    has_braces = False
    heading = file = ""
    for number, full in enumerate(lines):
        line = full[:LONGEST_LINE].rstrip()
        if subtest := _SUBTEST.match(line):
            names[len(subtest[1]) // 4 :] = [subtest[2]]
        elif line.strip() == "}" and braces:
            del names[braces.pop() :]
        elif has_headings and (match := _HEADING.match(line)) and _is_heading(lines, number):
            heading = match[1]
        elif match := _FILE.match(line):
            file, heading = match[1], ""
        elif (match := _RESULT.match(line)) and len(results) < MAX_TESTS and not _is_other(match):
            depth = len(braces) if braces else len(match[1]) // 4
            name, opens = _TIME.sub(" ", match[4]).strip(), match[4].endswith("{")
            if opens:
                names[depth:] = [name.removesuffix("{").strip()]
                braces.append(depth)
                has_braces = True
                continue
            directive = _DIRECTIVE.search(name)
            name = (name[: directive.start()] if directive else name).strip()
            path = (*filter(None, (file, heading)), *names[:depth], name or f"#{match[3] or len(results) + 1}")
            # A suite with braces comes before its parts; any other one after them.
            parts = [] if has_braces else _parts(results, depth)
            result = _Line(
                depth,
                path,
                is_failed=bool(match[2]),
                directive=directive[1].lower() if directive else "",
                diagnosis=_diagnosis(lines, number),
                has_parts=bool(parts),
                has_failed_parts=any(part.is_failed for part in parts),
            )
            results.append(result)
    return results


def _parts(results: Sequence[_Line], depth: int) -> list[_Line]:
    """The results that are nested further, since the last one at this depth."""
    parts = []
    for earlier in reversed(results):
        if earlier.depth <= depth:
            break
        parts.append(earlier)
    return parts


def _test(line: _Line, root: str) -> ReportedTest | None:
    """A result as a test; None for a suite, whose tests have their own."""
    if line.has_parts and (line.has_failed_parts or not line.is_failed):
        return None
    name = line.path[-1]
    path = [normalised(part, root) for part in line.path]
    is_file = len(path) == 1 and (name.startswith("/") or _is_file(name))
    place, *rest = path if len(path) > 1 and _is_file(path[0]) else ("test", *path)
    id = path[0] if is_file else f"{place}::{' > '.join(rest)}"
    result: CaseResult = "failed" if line.is_failed else "passed"
    if line.directive:  # one that is to do may fail
        result = "skipped"
    failure = _kind(line.diagnosis) if result == "failed" else None
    return ReportedTest(id, result, failure, is_module=is_file and result == "failed")


def _is_file(name: str) -> bool:
    return re.search(r"\.(?:[cm]?[jt]sx?|t|bats)$", name) is not None


def _kind(diagnosis: str) -> FailureKind:
    """A result without a word about it is that of an assertion: the protocol has nothing else."""
    if not diagnosis:
        return "assertion"
    fields: dict[str, str] = {}
    lines = diagnosis.splitlines()
    for number, line in enumerate(lines):
        if (field := _YAML_FIELD.match(line)) and field[1] not in fields:
            value = field[2].strip().strip("'\"")
            fields[field[1]] = (
                value if value not in ("|-", "|", ">-", ">", "") else "\n".join(lines[number + 1 :][:1])
            )
    if fields.get("failureType") == "testCodeFailure" and fields.get("error") == "test failed":
        return "error"  # a file of tests that ended before its tests did
    if "'Error thrown in test:'" in diagnosis:  # ava
        return kind_of_thrown_object(diagnosis)
    if fields.get("code") == "ERR_ASSERTION" or ("operator" in fields and "name" not in fields):
        return "assertion"
    if "name" in fields:
        message = fields.get("message") or fields.get("error") or ""
        return kind_of_failure(f"{fields['name']}: {message}")
    if "failureType" in fields:
        return "error"
    return kind_of_failure(diagnosis) if _says_more(diagnosis) else "assertion"


def _says_more(diagnosis: str) -> bool:
    """Whether a diagnosis names an exception, or the status of a command."""
    named = re.search(
        r"^\s{0,80}[\w.:]{0,200}(?:Error|Exception)\b|' failed with status ", diagnosis, re.MULTILINE
    )
    return named is not None


def _diagnosis(lines: Sequence[str], number: int) -> str:
    """What follows a result and belongs to it: an indented block, or comments of a program."""
    block = []
    indent = len(lines[number]) - len(lines[number].lstrip())
    for line in lines[number + 1 : number + 60]:
        if not line.strip():
            block.append("")
        elif len(line) - len(line.lstrip()) > indent and not _is_test_line(line):
            block.append(line[:LONGEST_LINE])
        elif line.startswith("# ") and (block or "in test file" in line):  # bats
            block.append(line[2:LONGEST_LINE])
        else:
            break
    return "\n".join(block).strip("\n")


def _is_test_line(line: str) -> bool:
    return bool(_SUBTEST.match(line) or _PLAN.match(line)) or bool(_STRUCTURE.match(line))


def _is_heading(lines: Sequence[str], number: int) -> bool:
    """Whether a comment is the name of what follows, as tape writes it: the next line is a result or a comment."""
    following = lines[number + 1].lstrip() if number + 1 < len(lines) else ""
    earlier = lines[number - 1].strip() if number else ""
    return following.startswith(("ok ", "not ok ", "# ")) and (
        not earlier or earlier.startswith(("TAP version", "ok ", "not ok", "1..", "# ", "..."))
    )


def _is_other(match: re.Match[str]) -> bool:
    """Whether a line only looks like a result: `ok` of go, or a word of an output."""
    return match[3] is None and not re.match(r"\s{0,80}(?:not )?ok(?: - |$)", match[0])
