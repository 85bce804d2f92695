"""What a planted failure shows, by the runs of the check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from samuel.evidence.plant.canary import canary_plant
from samuel.evidence.plant.planted import CalledRunner, Plant, PlantRun
from samuel.evidence.plant.verdict import verdict

TOKEN = "kq7zv1m4xw9d"
MARKERS = ("kq7zv1-m4xw9da", "kq7zv1-m4xw9db")
ADDED = Plant(CalledRunner("pytest"), "added test", TOKEN, sibling="tests/test_a.py", markers=MARKERS[:1])
PARTS = tuple(
    Plant(CalledRunner("mocha"), "added test", TOKEN, sibling="test/a.js", markers=(marker,)) for marker in MARKERS
)
TWO = replace(PARTS[0], markers=MARKERS, parts=PARTS)
CHANGED = Plant(CalledRunner(""), "changed expectation", "", sibling="tests/a.c")
NAMED = Plant(CalledRunner("pytest"), "changed expectation", "", sibling="tests/test_a.py", test_name="test_a")

PLANTED = f"tests.test_a::test_{TOKEN}"
GREEN = PlantRun(True, {"tests.test_a::test_a": "passed"})
KNOWN_RED = PlantRun(False, {"tests.test_a::test_a": "passed", "tests.test_b::test_b": "failed"})
SILENT_GREEN, SILENT_RED = PlantRun(True, output="fine\n"), PlantRun(False, output="make: *** [test] Error 1\n")


def run(*, passed: bool = False, planted: str = "failed", **others: str) -> PlantRun:
    tests = {
        "tests.test_a::test_a": "passed",
        **{f"tests.test_b::{name}": result for name, result in others.items()},
    }
    return PlantRun(passed, {**tests, **({PLANTED: planted} if planted else {})})


@pytest.mark.parametrize(
    ("before", "after", "plant", "outcome", "needs_control"),
    [
        pytest.param(GREEN, run(), ADDED, "shown_to_fail", False, id="the planted test failed"),
        pytest.param(GREEN, run(test_b="failed"), ADDED, "not_shown", False, id="another test failed too"),
        pytest.param(
            KNOWN_RED, run(test_b="failed"), ADDED, "shown_to_fail", False, id="a known failure beside it"
        ),
        pytest.param(GREEN, run(passed=True), ADDED, "not_shown", True, id="failed by report, but exit code 0"),
        pytest.param(GREEN, run(passed=True, planted="passed"), ADDED, "not_shown", True, id="it passed"),
        pytest.param(GREEN, run(planted="passed", test_b="failed"), ADDED, "not_shown", True, id="it passed, red"),
        pytest.param(GREEN, run(passed=True, planted="skipped"), ADDED, "not_shown", True, id="it was skipped"),
        pytest.param(GREEN, run(passed=True, planted=""), ADDED, "not_shown", True, id="it is not in the report"),
        pytest.param(GREEN, run(planted=""), ADDED, "not_shown", False, id="red without a test that failed"),
        pytest.param(GREEN, PlantRun(True, {}), ADDED, "not_shown", True, id="no test ran"),
        pytest.param(SILENT_GREEN, SILENT_GREEN, ADDED, "not_shown", True, id="green without a report"),
        pytest.param(SILENT_GREEN, SILENT_RED, ADDED, "not_shown", False, id="red, and nothing names the plant"),
        pytest.param(
            SILENT_GREEN,
            PlantRun(False, None, f"x {MARKERS[0]} y"),
            ADDED,
            "shown_to_fail",
            False,
            id="marker printed",
        ),
        pytest.param(
            SILENT_GREEN,
            PlantRun(False, None, f"\x1b[31mFAILED\x1b[0m test_a.py::test_{TOKEN}\n"),
            ADDED,
            "shown_to_fail",
            False,
            id="its name in a line of a failure",
        ),
        pytest.param(
            SILENT_GREEN,
            PlantRun(False, None, f"test_a.py:9:5: F811 redefinition of `test_{TOKEN}`\nFound 1 error.\n"),
            ADDED,
            "not_shown",
            False,
            id="its name by a linter",
        ),
        pytest.param(
            PlantRun(False, output="red"),
            PlantRun(False, output="red"),
            CHANGED,
            "not_shown",
            False,
            id="red before",
        ),
        pytest.param(SILENT_GREEN, SILENT_RED, CHANGED, "shown_to_fail", False, id="changed expectation, red"),
        pytest.param(SILENT_GREEN, SILENT_GREEN, CHANGED, "not_shown", True, id="changed expectation, green"),
        pytest.param(
            GREEN,
            PlantRun(False, {"tests.test_a::test_a": "failed"}),
            NAMED,
            "shown_to_fail",
            False,
            id="the changed test failed",
        ),
        pytest.param(
            GREEN,
            PlantRun(False, {"tests.test_a::test_a": "passed", "tests.test_b::test_c": "failed"}),
            NAMED,
            "not_shown",
            False,
            id="another one than the changed test failed",
        ),
        pytest.param(
            GREEN,
            PlantRun(False, {"tests.test_a::test_a": "passed"}, f"not ok 1 - {TOKEN} 0"),
            ADDED,
            "shown_to_fail",
            False,
            id="the report is that of another runner",
        ),
        pytest.param(
            SILENT_GREEN,
            PlantRun(False, None, MARKERS[1], is_complete=False),
            TWO,
            "shown_to_fail",
            False,
            id="one of two, in the end of an output",
        ),
    ],
)
def test_attempt_is_judged_by_its_own_runs(
    before: PlantRun, after: PlantRun, plant: Plant, outcome: str, needs_control: bool
) -> None:
    result = verdict(before, after, plant)
    assert (result.outcome, result.needs_control) == (outcome, needs_control)
    assert result.reason


@pytest.mark.parametrize(
    ("after", "control", "plant", "outcome"),
    [
        pytest.param(run(passed=True, planted=""), run(), ADDED, "disarmed", id="red on the verified tree alone"),
        pytest.param(
            run(passed=True, planted="passed"), run(), ADDED, "disarmed", id="passes on the attempt alone"
        ),
        pytest.param(
            run(passed=True, planted="passed"),
            run(passed=True, planted="passed"),
            ADDED,
            "not_shown",
            id="passes on both",
        ),
        pytest.param(
            run(passed=True, planted=""), run(passed=True, planted=""), ADDED, "not_shown", id="filtered"
        ),
        pytest.param(
            SILENT_GREEN, SILENT_RED, ADDED, "not_shown", id="the verified tree fails for another reason"
        ),
        pytest.param(SILENT_GREEN, PlantRun(False, None, MARKERS[0]), ADDED, "disarmed", id="by the output"),
        pytest.param(SILENT_GREEN, SILENT_RED, CHANGED, "disarmed", id="a changed expectation"),
        pytest.param(SILENT_GREEN, PlantRun(False, None, MARKERS[0]), TWO, "disarmed", id="--bail"),
    ],
)
def test_nobody_is_accused_unless_the_verified_tree_turns_red(
    after: PlantRun, control: PlantRun, plant: Plant, outcome: str
) -> None:
    before = GREEN if after.tests is not None else SILENT_GREEN
    assert verdict(before, after, plant, verified=before, control=control).outcome == outcome


def test_verified_tree_that_is_red_anyway_accuses_nobody() -> None:
    assert verdict(SILENT_GREEN, SILENT_GREEN, CHANGED, control=SILENT_RED).outcome == "not_shown"
    assert (
        verdict(SILENT_GREEN, SILENT_GREEN, CHANGED, verified=SILENT_RED, control=SILENT_RED).outcome
        == "not_shown"
    )
    red = PlantRun(False, {"tests.test_a::test_a": "failed"})
    assert verdict(GREEN, GREEN, NAMED, control=red).outcome == "not_shown"
    assert verdict(GREEN, GREEN, NAMED, verified=red, control=red).outcome == "not_shown"


def test_planted_test_that_printed_nothing_is_tried_alone() -> None:
    result = verdict(SILENT_GREEN, PlantRun(False, None, MARKERS[1]), TWO)
    assert (result.outcome, result.undecided) == ("shown_to_fail", PARTS[:1])
    assert verdict(SILENT_GREEN, PlantRun(False, None, " ".join(MARKERS)), TWO).undecided == ()
    assert verdict(SILENT_GREEN, PlantRun(False, None, MARKERS[0]), PARTS[0]).undecided == ()


def test_reason_names_the_file_and_what_happened() -> None:
    result = verdict(GREEN, run(passed=True, planted=""), ADDED, control=run())
    assert result.reason == (
        "the check stayed green with a failing test in `tests/test_a.py`, although the same failure turns the "
        "check red on the verified tree"
    )


def test_canary_replaces_the_plant_and_is_judged_by_the_exit_code() -> None:
    canary = canary_plant("sh break.sh")
    assert canary is not None
    assert canary.files == {}
    assert verdict(GREEN, PlantRun(False, {"tests.test_a::test_a": "failed"}), canary).outcome == "shown_to_fail"
    assert verdict(GREEN, GREEN, canary).needs_control
    assert verdict(GREEN, GREEN, canary, verified=GREEN, control=SILENT_RED).outcome == "disarmed"


def test_empty_canary_is_none() -> None:
    assert canary_plant(" ") is None
