"""Reading test reports, comparing them, and finding tests that a change has emptied or skipped."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from samuel.checks.junit import compare, read_report
from samuel.checks.softened_tests import softened_tests

REPORT = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="x"><!-- a comment -->
<testcase classname="tests.test_a" name="test_ok"/>
<testcase classname="tests.test_a" name="test_bad"><failure message="no"><![CDATA[<b>]]></failure></testcase>
<testcase classname="tests.test_a" name="test_broken"><error/></testcase>
<testcase classname="tests.test_a" name="test_later"><skipped/></testcase>
<testsuite><testcase name="nested" file="a.js"/></testsuite>
<testcase classname="tests.test_a" name="test_ok"><failure/></testcase>
</testsuite></testsuites>"""


def test_a_report_gives_each_test_with_its_worst_result() -> None:
    assert read_report(REPORT) == {
        "tests.test_a::test_ok": "failed",
        "tests.test_a::test_bad": "failed",
        "tests.test_a::test_broken": "failed",
        "tests.test_a::test_later": "skipped",
        "a.js::nested": "passed",
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuite>",
        b"no xml",
        b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>',
    ],
)
def test_a_broken_report_or_one_with_a_document_type_is_no_report(content: bytes) -> None:
    assert read_report(content) is None


@pytest.mark.slow
def test_a_report_that_pytest_wrote_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_a(): pass\n@pytest.mark.skip\ndef test_b(): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=out.xml"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert read_report((tmp_path / "out.xml").read_bytes()) == {
        "test_it::test_a": "passed",
        "test_it::test_b": "skipped",
    }


def test_a_comparison_names_what_became_worse() -> None:
    before = {"a": "passed", "b": "failed", "c": "passed", "d": "passed", "e": "skipped", "f": "failed"}
    after = {"a": "failed", "b": "failed", "c": "skipped", "new": "failed", "also": "skipped", "f": "passed"}
    assert compare(before, after) == (("a", "new"), ("d",), ("c",))


PYTHON = """
    import unittest
    def test_plain():
        assert add(1, 2) == 3
    def helper():
        pass
    async def test_async():
        assert await go()
    class TestIt(unittest.TestCase):
        def test_method(self):
            self.assertEqual(add(1, 2), 3)
    """


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("assert add(1, 2) == 3", "assert True", ["t.py: test_plain emptied"]),
        ("assert add(1, 2) == 3", "pass", ["t.py: test_plain emptied"]),
        ("assert add(1, 2) == 3", "'''It adds.'''", ["t.py: test_plain emptied"]),
        ("assert add(1, 2) == 3", "return; assert add(1, 2) == 3", ["t.py: test_plain emptied"]),
        ("assert add(1, 2) == 3", "pytest.skip('later')", ["t.py: test_plain emptied"]),
        ("self.assertEqual(add(1, 2), 3)", "self.assertTrue(True)", ["t.py: TestIt.test_method emptied"]),
        ("def test_plain", "@pytest.mark.skip(reason='x')\n    def test_plain", ["t.py: test_plain skipped"]),
        ("def test_plain", "@pytest.mark.xfail\n    def test_plain", ["t.py: test_plain skipped"]),
        ("class TestIt", "@unittest.skip('x')\n    class TestIt", ["t.py: TestIt.test_method skipped"]),
        ("async def test_async", "async def no_test", ["t.py: test_async removed"]),
        ("import unittest", "pytestmark = [pytest.mark.skip]", 3),
        ("assert add(1, 2) == 3", "assert add(2, 2) == 4", []),
        ("def helper", "def helper_of_tests", []),
        ("import unittest", "import (", []),
    ],
)
def test_python_tests_that_a_change_softened_are_named(old: str, new: str, lines: list[str] | int) -> None:
    before = textwrap.dedent(PYTHON)
    softened = softened_tests(before, textwrap.dedent(PYTHON.replace(old, new)), "t.py")
    assert softened == lines if isinstance(lines, list) else len(softened) == lines


JS = """
describe("math", () => {
  it('adds', () => { expect(add(1, 2)).toBe(3) });
  test(`works "well"`, async function () { await go() });
});
"""


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("it('adds'", "it.skip('adds'", ["a.test.ts: adds skipped"]),
        ("it('adds'", "xit('adds'", ["a.test.ts: adds skipped"]),
        ("describe(", "describe.skip(", ["a.test.ts: math skipped"]),
        ("{ expect(add(1, 2)).toBe(3) }", "{}", ["a.test.ts: adds emptied"]),
        ("it('adds'", "it.only('adds'", ["a.test.ts: adds is the only test left to run"]),
        ("  it('adds', () => { expect(add(1, 2)).toBe(3) });\n", "", ["a.test.ts: adds removed"]),
        ("toBe(3)", "toEqual(3)", []),
        ("});\n", "it('new', () => {});\n});\n", []),
    ],
)
def test_javascript_tests_that_a_change_softened_are_named(old: str, new: str, lines: list[str]) -> None:
    assert softened_tests(JS, JS.replace(old, new, 1), "a.test.ts") == lines


def test_a_removed_test_file_names_all_its_tests_and_other_files_none() -> None:
    assert softened_tests("def test_a():\n    assert f()\n", "", "t.py") == ["t.py: test_a removed"]
    assert softened_tests("test: x", "", "Makefile") == []
