"""The trees of the corners, made again from a commit and what it began with.

A receipt's own word is not taken for what was on these trees: what a corner is made of follows from its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samuel.checks.changed_tests import ChangedTests
from samuel.evidence.corner import Corner
from samuel.receipts.predicate import MERGED


def corner_tree(
    corner: str,
    tests: ChangedTests,
    not_owned: Sequence[str],
    locked: Mapping[str, bytes],
    *,
    is_own: bool = False,
) -> str:
    """The tree of a corner; "" if it cannot be made of a commit and its base.

    `locked` are the files with acceptance tests. `is_own`: for a check that came with the task, which may need a
    test that is new.
    """
    match corner:
        case "own" | "merged" | "sealed":
            return tests.own
        case "before" | "sealed before":
            return tests.verified
        case "acceptance":
            paths = [path for path in not_owned if path in tests.paths and path not in locked]
            return tests.with_acceptance(paths, locked) if locked else ""
        case "acceptance before":
            return tests.verified_with(locked) if locked else ""
        case "old tests":
            paths = [path for path in not_owned if path in tests.paths]
            return tests.with_old_tests([path for path in paths if not is_own or tests.is_verified(path)])
        case "old source":
            return tests.with_old_source()
    return ""


def run_as(corner: str) -> Corner:
    """The corner by which a check is told what is asked of it."""
    if corner == "acceptance before":
        return "acceptance before"
    return "old source" if corner == "old source" else "own"


OWN_CORNERS = ("own", MERGED)
"""The corners with the commit as it is."""

SEALED_CORNERS: tuple[Corner, ...] = ("sealed", "sealed before")
"""The corners of sealed checks, which a receipt has by name alone."""
