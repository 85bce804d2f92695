"""The corners of the evidence: old and new tests, each with the old and the new source.

own                the attempt: its source with its tests
old tests          its source with the tests of the verified tree
old tests again    the same as `old tests`, before a failure there is believed
old source         its tests with the source of the verified tree
own again          the same as `own`, before a proof is believed, or after a check changed the work
old source again   the same as `old source`, before a proof is believed
before             the verified tree, for checks that came with the task
planted            the attempt with a test that must fail, or after the canary ran there
canary             the canary itself, on the attempt
sealed             the attempt, for sealed checks
sealed before      the verified tree, for sealed checks
acceptance         its source with the tests of the verified tree and the acceptance tests of the task
acceptance before  the verified tree with these acceptance tests
in place           the verified tree where it is, to find out what the clean room lacks
prepare            not a check: the command that makes what the checks need
"""

from __future__ import annotations

from typing import Literal

Corner = Literal[
    "own",
    "old tests",
    "old tests again",
    "old source",
    "own again",
    "old source again",
    "before",
    "planted",
    "canary",
    "sealed",
    "sealed before",
    "acceptance",
    "acceptance before",
    "in place",
    "prepare",
]

CORNERS: dict[str, str] = {
    "own": "new on new",
    "old tests": "old on new",
    "old tests again": "old on new, again",
    "old source": "new on old",
    "own again": "new on new, again",
    "old source again": "new on old, again",
    "before": "old on old",
    "planted": "planted on new",
    "canary": "canary on new",
    "sealed": "sealed on new",
    "sealed before": "sealed on old",
    "acceptance": "acceptance on new",
    "acceptance before": "acceptance on old",
    "in place": "in place",
    "prepare": "prepare",
}
"""Each corner as a cell of a table: which tests, on which source."""

WITH: dict[str, str] = {
    "own": "",
    "old tests": "with the tests as they were",
    "old tests again": "with the tests as they were",
    "old source": "with its tests on the source as it was",
    "own again": "once more",
    "old source again": "with its tests on the source as it was, once more",
    "before": "before the work",
    "planted": "with a planted failing test",
    "canary": "",
    "sealed": "(sealed)",
    "sealed before": "(sealed) before the work",
    "acceptance": "with the acceptance tests",
    "acceptance before": "with the acceptance tests, before the work",
    "in place": "in your work tree",
    "prepare": "to prepare the environment",
}
"""Each corner in words that follow the name of a check."""

EXPECTED_RED: tuple[str, ...] = ("old source", "old source again", "acceptance before")
"""Where new tests run on old source: a failure is no accident, and one module must not hide the others."""

REPEATS: tuple[str, ...] = ("own", "old tests again")
"""Where a single command runs because it has failed: one that passes now is flaky."""

MUST_FAIL: tuple[str, ...] = (
    "old source",
    "old source again",
    "before",
    "planted",
    "sealed before",
    "acceptance before",
)
"""Where a check that fails shows something, and one that passes does not."""
