"""Runners that write no report: what they print when no test ran."""

from __future__ import annotations

import pytest

from samuel.checks.printed_counts import WHOLE, says_that_none_ran

UNITTEST = "\n----------------------------------------------------------------------\nRan {} in 0.000s\n\nOK\n"
LIBTEST = "\nrunning {}\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
NONE_RAN = {
    "unittest": UNITTEST.format("0 tests"),
    "two of unittest": UNITTEST.format("0 tests") * 2,
    "cargo": LIBTEST.format("0 tests") + "\n   Doc-tests shop\n" + LIBTEST.format("0 tests"),
    "go": "?   \tshop\t[no test files]\n?   \tshop/prices\t[no test files]\n",
    "go, filtered": "ok  \tshop\t0.002s [no tests to run]\n",
    "jest": "No tests found, exiting with code 0\n",
    "vitest": "\x1b[33m\nNo test files found, exiting with code 0\n\x1b[39m",
    "mocha": "\n\n  0 passing (1ms)\n\n",
    "node": "TAP version 13\n1..0\n# tests 0\n# pass 0\n",
}
SOME_RAN = {
    "unittest": UNITTEST.format("1 test"),
    "one of two": UNITTEST.format("3 tests") + UNITTEST.format("0 tests"),
    "cargo": LIBTEST.format("7 tests") + "\n   Doc-tests shop\n" + LIBTEST.format("0 tests"),
    "go": "?   \tshop\t[no test files]\nok  \tshop/prices\t(cached)\n",
    "jest": "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n",
    "mocha": "\n  12 passing (8ms)\n",
    "pytest": "3 passed in 0.01s\n",
    "a linter before": "All checks passed!\n" + UNITTEST.format("4 tests"),
    "nothing is said": "",
    "no runner": "compiled 0 files\n",
    "the end of a long output": "x" * WHOLE + LIBTEST.format("0 tests"),
}


@pytest.mark.parametrize("name", NONE_RAN)
def test_a_runner_that_ran_no_test_says_so(name: str) -> None:
    assert says_that_none_ran(NONE_RAN[name])


@pytest.mark.parametrize("name", SOME_RAN)
def test_a_runner_that_ran_a_test_or_says_nothing_is_not_accused(name: str) -> None:
    assert not says_that_none_ran(SOME_RAN[name])
