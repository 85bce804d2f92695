"""How another run of a check differs from the recorded one."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.checks.recorded_tests import MOST_NAMES, recorded_tests
from samuel.checks.verdict import record_of
from samuel.events.loop import CheckRun
from samuel.receipts.comparison import differences, environment_remarks
from samuel.receipts.predicate import corners
from samuel.receipts.recorded import RecordedRun, recorded_predicate


def run(passed: bool = True, code: int | None = 0, tests: Any = None) -> CheckRun:
    return CheckRun(command="check", passed=passed, exit_code=code, tests=tests)


def recorded(check_run: CheckRun) -> RecordedRun:
    """The run as a reader of its receipt has it."""
    landing = {"samuel": "1", "methodology": "ralph", "environment": {}}
    landed = [{"task": "1", "title": "One", "grade": ""}]
    predicate = recorded_predicate({**landing, "landed": landed, "corners": corners([record_of(check_run)])})
    return predicate.corners[0].runs[0]


GREEN = {"a": "passed", "b": "passed", "c": "skipped"}


@pytest.mark.parametrize(
    ("before", "now", "different"),
    [
        (run(), run(), []),
        (run(tests=GREEN), run(tests=GREEN), []),
        (run(tests={**GREEN, "at 2024-05-05": "passed"}), run(tests={**GREEN, "at 2025-06-06": "passed"}), []),
        (run(), run(False, 1), ["passed in the receipt, and ended with exit code 1 here"]),
        (run(False, 1), run(), ["failed in the receipt, and passed here"]),
        (run(False, 1), run(False, 2), ["had exit code 1 in the receipt, and has 2 here"]),
        (run(tests=GREEN), run(), ["reports no tests here"]),
        (run(), run(tests=GREEN), ["reported no tests in the receipt"]),
        (run(tests=GREEN), run(tests={"a": "passed"}), ["passed in the receipt, missing here: b"]),
        (run(tests=GREEN), run(tests={**GREEN, "b": "skipped"}), ["passed in the receipt, skipped here: b"]),
        (run(tests=GREEN), run(tests={**GREEN, "d": "passed"}), ["not in the receipt: d"]),
    ],
)
def test_difference_is_named(before: CheckRun, now: CheckRun, different: list[str]) -> None:
    assert differences(recorded(before), now) == different


def test_tests_that_are_too_many_to_name_are_compared_by_their_digest() -> None:
    many = {f"test {number} of many": "passed" for number in range(MOST_NAMES + 1)}
    assert recorded_tests(many).names == ()  # type: ignore[arg-type]
    assert differences(recorded(run(tests=many)), run(tests=many)) == []
    fewer = dict(list(many.items())[1:])
    (text,) = differences(recorded(run(tests=many)), run(tests=fewer))
    assert text == "its tests are others: 201 passed, 0 skipped in the receipt, 200 and 0 here"


def test_other_environment_is_named() -> None:
    before = {
        "system": "Linux 6",
        "machine": "arm",
        "tools": [{"name": "node", "version": "v20"}, {"name": "java", "version": "17"}],
        "packages": [{"path": "node_modules", "digest": {"sha256": "1"}, "names": []}],
        "sandbox": {"kind": "bwrap"},
    }
    here = {**before, "machine": "x86", "tools": [{"name": "node", "version": "v22"}], "packages": []}
    assert environment_remarks(before, before) == []
    assert environment_remarks(before, {**here, "sandbox": {"kind": "host"}}) == [
        "machine is `x86` here, and was `arm`",
        "the sandbox is `host` here, and was `bwrap`",
        "`node` is `v22` here, and was `v20`",
        "`java` is missing here, and was `17`",
        "`node_modules` is missing here",
    ]
