"""Reports and outputs that are broken, huge or made to mislead: they are bounded, and no reader raises."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from samuel.evidence.reports.bounded_xml import MAX_DEPTH
from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.formats import read_report_file
from samuel.evidence.reports.ids import is_stable
from samuel.evidence.reports.junit_xml import read_junit
from samuel.evidence.reports.printed.output import read_output
from samuel.evidence.reports.suite import LONGEST_ID

DATA = Path(__file__).parents[1] / "data" / "reports"
CASE = '<testcase classname="a" name="b"/>'
LAUGHS = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuite>",
        b"no xml",
        b"\xff\xfe<\0t\0",
        b"<html><body/></html>",
        f'{LAUGHS}<testsuite><testcase name="&b;"/></testsuite>'.encode(),
        f"<!-- <testsuite> -->{LAUGHS}<testsuite>{CASE}</testsuite>".encode(),
        f"<?xml version='1.0'?><?x <a?>\n{LAUGHS}<testsuite>{CASE}</testsuite>".encode(),
        f"<testsuite>{CASE}".encode(),
        f"<testsuite>{CASE}{LAUGHS}</testsuite>".encode(),
        f"<?xml version='1.0' encoding='no-such'?><testsuite>{CASE}</testsuite>".encode(),
        f"<testsuite>{CASE}</testsuite>".encode("utf-16"),
        ("<testsuite>" * (MAX_DEPTH + 1) + CASE + "</testsuite>" * (MAX_DEPTH + 1)).encode(),
        b"<!--" * 1000,
        b"<?" * 1000,
        b"{",
        b"{" * 100_000,
        b'{"testResults": 3}',
        b'{"testResults": [3, {"assertionResults": [null, {"status": [], "title": 3}]}]}' * 2,
        b'{"stats": {}, "tests": 1}',
        b"1..x",
        b"\0\0\0",
    ],
)
def test_a_broken_report_is_no_report(content: bytes) -> None:
    assert read_report_file(content) is None


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (b'{"testResults": [3, {"name": 1, "assertionResults": [null, {"status": [], "title": 3}]}]}', 1),
        (b'{"stats": {}, "tests": [1, {"err": 3}, {"fullTitle": "a", "err": {"stack": 1}}]}', 1),
        (b'{"examples": [{}, 1], "summary_line": "", "messages": [1, "An error occurred while loading "]}', 1),
        (b'{"Action":"fail","Package":3,"Test":["a"]}\n{"Action":"fail"}\n{"Action":1}', 1),
        (b"<testsuite><testcase/><testcase name=''/><testcase name='a'><failure/></testcase></testsuite>", 1),
        (b"<TestRun><UnitTestResult/><UnitTestResult testName='a'/><UnitTest/></TestRun>", 1),
        (b"TAP version 13\nnot ok\nok 1 {\n}\n}\n}\nok - x\n", 2),
    ],
)
def test_a_report_with_fields_of_other_types_is_read_as_far_as_it_makes_sense(content: bytes, count: int) -> None:
    report = read_report_file(content)
    assert report is not None
    assert len(report.tests) == count


def test_a_document_type_in_the_text_of_a_failure_is_text() -> None:
    text = "<testcase name='a'><failure><![CDATA[<!DOCTYPE html>]]></failure></testcase>"
    report = read_junit(f"\ufeff<?xml version='1.0'?>\n<!-- c -->\n<testsuite>{text}</testsuite>".encode())
    assert report is not None
    assert report.results == {"a": "failed"}


def test_an_id_is_one_line_of_bounded_length() -> None:
    report = read_junit(f"<testsuite><testcase name='a&#10;  b{'x' * 9999}'/></testsuite>".encode())
    assert report is not None
    (id,) = report.tests
    assert id.startswith("a b")
    assert len(id) == LONGEST_ID


WORDS = (
    "a",
    "0",
    "Error",
    "E ",
    ".",
    "::",
    " ",
    "\t",
    "-",
    "'",
    "(",
    "[",
    "\\",
    "/",
    "=== ",
    "--- ",
    "ok ",
    "1..",
    "😀",
)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "start", ["", "E   ", "error[E0425]: ", "test ", "FAILED ", "  1) ", "  ● ", "not ok 1 - "]
)
def test_long_lines_and_many_of_them_are_read_to_their_end(start: str, word: str) -> None:
    text = "\n".join([start + word * 20_000] * 3 + [start + word * 3] * 2000)
    read_output(text)
    kind_of_failure(text)
    is_stable(start + word * 500)


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir() if path.suffix != ".md"))
def test_a_report_with_changed_bytes_raises_nothing(name: str) -> None:
    content = (DATA / name).read_bytes()
    chooser = random.Random(name)
    for _ in range(20):
        changed = bytearray(content)
        for _ in range(chooser.randrange(1, 30)):
            position = chooser.randrange(len(changed))
            changed[position : position + chooser.randrange(3)] = chooser.randbytes(chooser.randrange(3))
        read_report_file(bytes(changed), "/project")
        read_output(changed.decode(errors="replace"), "/project")
        rows = content.splitlines(keepends=True)
        chooser.shuffle(rows)
        read_output(b"".join(rows).decode(errors="replace"), "/project", is_cut=True)
