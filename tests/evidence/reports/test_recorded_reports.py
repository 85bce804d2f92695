"""What is read from reports that real runners wrote and printed: tests/evidence/data/reports has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.evidence.reports.formats import read_report_file
from samuel.evidence.reports.printed.output import read_output, says_that_none_ran
from samuel.evidence.reports.suite import SuiteReport, combined

DATA = Path(__file__).parents[1] / "data" / "reports"
RECORDED = sorted(
    path.name for path in DATA.iterdir() if path.suffix in (".txt", ".xml", ".json", ".jsonl", ".trx")
)
# The directory of the project in which a runner ran, by the beginning of the file's name.
DIRECTORIES = {
    **dict.fromkeys(("pytest", "unittest"), "py"),
    "pytest-import": "pymod",
    "pytest-xunit1": "",
    **dict.fromkeys(("cargo", "nextest"), "rs"),
    **dict.fromkeys(("rspec", "minitest"), "ruby"),
    "phpunit": "php",
    **dict.fromkeys(("maven", "javac", "junit", "surefire", "kotlin"), "java"),
}


def root_of(name: str) -> str:
    stem = name.rpartition(".")[0]
    runner = stem.partition("-")[0]
    return f"/project/{DIRECTORIES.get(stem, DIRECTORIES.get(runner, runner))}"


def recorded(name: str) -> list[SuiteReport]:
    content = (DATA / name).read_bytes()
    if name.endswith(".txt"):
        return read_output(content.decode(), root_of(name))
    report = read_report_file(content, root_of(name))
    return [report] if report else []


def described(reports: list[SuiteReport]) -> Iterator[str]:
    for report in reports:
        lists_passed = ", lists passed" if report.lists_passed else ""
        yield f"{report.runner or '?'}: ran {report.ran}, failed {report.failed}{lists_passed}"
        for test in report.tests.values():
            yield f"  {test.failure or test.result}{' module' if test.is_module else ''}: {test.id}"


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_report_gives_its_tests_with_their_results(name: str) -> None:
    assert "\n".join(described(recorded(name))) + "\n" == (DATA / f"{name}.expected").read_text(encoding="utf-8")


def test_every_expectation_has_its_report() -> None:
    assert sorted(path.name.removesuffix(".expected") for path in DATA.glob("*.expected")) == RECORDED


@pytest.mark.parametrize("name", [name for name in RECORDED if name.endswith(".txt")])
def test_the_end_of_an_output_names_no_test_that_the_whole_does_not(name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    failed = {test.id.rpartition("::")[2] for report in recorded(name) for test in report.tests.values()}
    for cut in (len(text) // 4, len(text) // 2, len(text) * 3 // 4):
        for report in read_output(text[cut:], root_of(name), is_cut=True):
            assert not report.lists_passed
            assert report.ran != 0
            if report.runner not in ("tap", "build", "node-test"):  # they name what is around a test before it
                assert {id.rpartition("::")[2] for id in report.tests} <= failed


@pytest.mark.parametrize("name", [name for name in RECORDED if "-none" in name and name.endswith(".txt")])
def test_an_output_without_tests_says_that_none_ran(name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    assert says_that_none_ran(text)
    assert not says_that_none_ran(text, is_cut=True)


@pytest.mark.parametrize("name", [name for name in RECORDED if "-none" not in name and name.endswith(".txt")])
def test_an_output_with_tests_or_errors_does_not_say_that_none_ran(name: str) -> None:
    assert not says_that_none_ran((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "output", ["", "all is well\n", "ok\n", "3 files checked in 0.1s\n", "Success: no issues\n"]
)
def test_an_output_of_no_runner_says_nothing(output: str) -> None:
    assert read_output(output) == []
    assert not says_that_none_ran(output)


@pytest.mark.parametrize(
    "output",
    [
        "===== no tests ran in 0.01s =====\nRan 3 tests in 0.1s\n\nOK\n",
        "Ran 0 tests in 0.000s\n\nOK\n\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored\n",
        "?   \tshop\t[no test files]\nok  \tshop/cart\t0.1s\n",
    ],
)
def test_one_runner_that_ran_tests_is_enough(output: str) -> None:
    assert not says_that_none_ran(output)


NONE_RAN = {
    "two of unittest": "Ran 0 tests in 0.000s\n\nOK\n" * 2,
    "unittest of Python 3.12": "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n",
    "cargo": "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n" * 2,
    "cargo, whose test ended the process": "running 2 tests\n",
    "vitest": "\x1b[33m\n RUN  v2.0.0 /project\n\nNo test files found, exiting with code 0\n\x1b[39m",
    "prove": "Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS\n",
    "dotnet": "No test is available in /project/bin/Shop.Tests.dll. Make sure that a discoverer is registered.\n",
}


@pytest.mark.parametrize("name", NONE_RAN)
def test_a_runner_that_ran_no_test_says_so(name: str) -> None:
    assert says_that_none_ran(NONE_RAN[name])


def test_a_module_that_could_not_be_loaded_is_not_an_empty_suite() -> None:
    output = " FAIL  new.test.js [ new.test.js ]\nError: Cannot find module './cart.js'\n\n      Tests  no tests\n"
    (report,) = read_output(output)
    assert (report.ran, report.failed) == (0, 1)
    assert not says_that_none_ran(output)


@pytest.mark.parametrize(
    ("tap", "ids"),
    [
        ("1..2\nok 1 - a {\n    ok 1 - b\n    1..1\n}\nok 2 - c\n", ["test::a > b", "test::c"]),
        ("1..1\n# Subtest: a\n    ok 1 - b\n    1..1\nok 1 - a\n", ["test::a > b"]),
        ("1..1\n# Subtest: a\n    ok 1 - b\n    1..1\nnot ok 1 - a\n", ["test::a > b", "test::a"]),
        ("TAP version 14\nok - a # time=3ms\nnot ok - b # TODO later\n1..2\n", ["test::a", "test::b"]),
        ("1..1\nok 1\n", ["test::#1"]),
    ],
)
def test_suites_of_tap_are_the_places_of_their_tests(tap: str, ids: list[str]) -> None:
    report = read_report_file(tap.encode())
    assert report is not None
    assert list(report.tests) == ids


def test_words_of_a_log_are_not_the_summary_of_pytest() -> None:
    output = (
        "===== test session starts =====\nERROR connection - lost\n"
        "===== short test summary info =====\nFAILED a.py::test_b - assert 0\n===== 1 failed in 0.1s =====\n"
    )
    (report,) = read_output(output)
    assert list(report.tests) == ["a::test_b"]


def test_what_a_runner_printed_does_not_count_beside_its_file() -> None:
    report = combined([*recorded("pytest.xml"), *recorded("pytest.txt"), *recorded("cargo.txt")])
    assert report is not None
    assert (report.runner, report.ran, report.failed) == ("", 14 + 13, 11 + 9)
    assert report.lists_passed
    assert not report.is_printed


def test_failures_that_a_check_printed_and_did_not_mind_are_not_its_own() -> None:
    printed = "app.c:3:1: error: expected ';'\n===== 1 failed, 2 passed in 0.1s =====\n"
    for reports in ([*recorded("unittest-none.txt"), *read_output(printed)], read_output(printed)):
        report = combined(reports, has_passed=True)
        assert report is not None
        assert (report.failed, report.tests) == (0, {})
    file = combined(recorded("pytest.xml"), has_passed=True)
    assert file is not None
    assert file.failed == 11


def test_the_file_of_an_unknown_runner_is_not_counted_again_as_its_output() -> None:
    report = combined([*recorded("junit-console.xml"), *recorded("junit-console.txt")])
    assert report is not None
    assert report.ran == 5


def test_why_a_file_could_not_be_loaded_is_taken_from_the_output() -> None:
    report = combined([*recorded("node.xml"), *recorded("node-spec.txt")])
    assert report is not None
    assert report.tests["new.test.js"].failure == "missing"
    assert report.ran == 6


def test_no_reports_are_none() -> None:
    assert combined([]) is None
