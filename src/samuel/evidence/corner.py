"""The corners of the evidence: old and new tests, each with the old and the new source.

own            the attempt: its source with its tests
old tests      its source with the tests of the verified tree
old source     its tests with the source of the verified tree
before         the verified tree, for checks that came with the task
planted        the attempt with a test that must fail, or after the canary ran there
canary         the canary itself, on the attempt
sealed         the attempt, for sealed checks
sealed before  the verified tree, for sealed checks
in place       the verified tree where it is, to find out what the clean room lacks
"""

from __future__ import annotations

from typing import Literal

Corner = Literal[
    "own", "old tests", "old source", "before", "planted", "canary", "sealed", "sealed before", "in place"
]

CORNERS: dict[str, str] = {
    "own": "new on new",
    "old tests": "old on new",
    "old source": "new on old",
    "before": "old on old",
    "planted": "planted on new",
    "canary": "canary on new",
    "sealed": "sealed on new",
    "sealed before": "sealed on old",
    "in place": "in place",
}
"""Each corner as a cell of a table: which tests, on which source."""

WITH: dict[str, str] = {
    "own": "",
    "old tests": "with the tests as they were",
    "old source": "with its tests on the source as it was",
    "before": "before the work",
    "planted": "with a planted failing test",
    "canary": "",
    "sealed": "(sealed)",
    "sealed before": "(sealed) before the work",
    "in place": "in your work tree",
}
"""Each corner in words that follow the name of a check."""

MUST_FAIL: tuple[str, ...] = ("old source", "before", "planted", "sealed before")
"""Where a check that fails shows something, and one that passes does not."""
