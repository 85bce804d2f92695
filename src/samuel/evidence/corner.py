"""The corners of the evidence: old and new tests, each with the old and the new source.

own          the attempt: its source with its tests
old tests    its source with the tests of the verified tree
old source   its tests with the source of the verified tree
before       the verified tree, for checks that came with the task
planted      the attempt with a test that must fail
in place     the verified tree where it is, to find out what the clean room lacks
prepare      not a check: the command that makes what the checks need
"""

from __future__ import annotations

from typing import Literal

Corner = Literal["own", "old tests", "old source", "before", "planted", "in place", "prepare"]

CORNERS: dict[str, str] = {
    "own": "new on new",
    "old tests": "old on new",
    "old source": "new on old",
    "before": "old on old",
    "planted": "planted on new",
    "in place": "in place",
    "prepare": "prepare",
}
"""Each corner as a cell of a table: which tests, on which source."""

WITH: dict[str, str] = {
    "own": "",
    "old tests": "with the tests as they were",
    "old source": "with its tests on the source as it was",
    "before": "before the work",
    "planted": "with a planted failing test",
    "in place": "in your work tree",
    "prepare": "to prepare the environment",
}
"""Each corner in words that follow the name of a check."""

MUST_FAIL: tuple[str, ...] = ("old source", "before", "planted")
"""Where a check that fails shows something, and one that passes does not."""
