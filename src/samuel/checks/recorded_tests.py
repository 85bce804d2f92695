"""What a record holds of the tests of one check: counts, names within limits, and a digest of all results."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from samuel.evidence.reports.ids import is_stable
from samuel.evidence.reports.suite import CaseResult
from samuel.history.attempt_record import MAX_NAMED, ReportedTests

MOST_NAMES = 200
LONGEST = 16 * 1024  # characters of all names together
# Whether an id with a date is stable depends on the day of the run, and a digest must not.
_DATED = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|(?<!\d)1\d{9}")


def recorded_tests(results: Mapping[str, CaseResult]) -> ReportedTests:
    """The tests of one run as they are recorded."""
    values = list(results.values())
    passed = tuple(sorted(id for id, result in results.items() if result == "passed" and is_timeless(id)))
    failed = tuple(id for id, result in results.items() if result == "failed")
    fits = len(passed) <= MOST_NAMES and sum(map(len, passed)) <= LONGEST
    return ReportedTests(
        passed=values.count("passed"),
        failed=failed[:MAX_NAMED],
        skipped=values.count("skipped"),
        names=passed if fits else (),
        digest=_digest(results),
    )


def is_timeless(id: str) -> bool:
    """Whether an id names the same test in a run at any other time."""
    return is_stable(id) and not _DATED.search(id)


def _digest(results: Mapping[str, CaseResult]) -> str:
    lines = sorted(f"{result} {id}\n" for id, result in results.items() if is_timeless(id))
    return hashlib.sha256("".join(lines).encode("utf-8", "backslashreplace")).hexdigest()
