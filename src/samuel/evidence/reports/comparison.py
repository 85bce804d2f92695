"""How two runs of the same tests differ, test by test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from samuel.evidence.reports.ids import is_stable
from samuel.evidence.reports.suite import CaseResult, ReportedTest, SuiteReport


class ChangedResults(NamedTuple):
    """How the tests of a run differ from those of an earlier one; ids in the order of the report."""

    newly_failing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """They ran before, and are not in the report any more. An id that is not stable is never lost."""
    newly_skipped: tuple[str, ...] = ()


def compare(
    before: Mapping[str, CaseResult], after: Mapping[str, CaseResult], now: datetime | None = None
) -> ChangedResults:
    """What became worse. A test that is new and fails counts as newly failing."""
    return ChangedResults(
        tuple(id for id, result in after.items() if result == "failed" and before.get(id) != "failed"),
        tuple(
            id for id, result in before.items() if result != "skipped" and id not in after and is_stable(id, now)
        ),
        tuple(
            id for id, result in after.items() if result == "skipped" and before.get(id, "skipped") != "skipped"
        ),
    )


def not_run(before: Mapping[str, CaseResult], after: Mapping[str, CaseResult]) -> tuple[str, ...]:
    """The tests that ran before and do not run any more, by id; of one with parameters, if it has none left.

    A test with the same name elsewhere is the same one: a module with tests inside was renamed.
    """
    ran = {name for id, result in after.items() if result != "skipped" for name in _names(id)}
    changes = compare(before, after)
    return tuple(id for id in (*changes.lost, *changes.newly_skipped) if ran.isdisjoint(_names(id)))


def _names(id: str) -> tuple[str, str]:
    """A test without its parameters, and without its module."""
    head = id.partition("[")[0]
    return head, re.split(r"::|\.", head)[-1]


def fail_to_pass(before: SuiteReport, after: SuiteReport, now: datetime | None = None) -> tuple[ReportedTest, ...]:
    """The tests that failed in `before` and passed in `after`, with the way in which they failed.

    Each of the passed tests of a module that could not be loaded before is one of them, marked as a module. An id
    that is absent from either report, or not stable at the time of the runs, says nothing.
    """
    modules = {id: test for id, test in before.tests.items() if test.is_module and test.result == "failed"}
    tests = []
    for id, test in after.tests.items():
        if test.result != "passed" or test.is_module or not is_stable(id, now):
            continue
        places = (modules[place] for place in _places(id) if place in modules) if modules else ()
        earlier = before.tests.get(id) or next(iter(places), None)
        if earlier is not None and earlier.result == "failed":
            tests.append(test._replace(result="failed", failure=earlier.failure, is_module=earlier.is_module))
    return tuple(tests)


def _places(id: str) -> Iterator[str]:
    """What a test may be a part of: `test_app.TestIt` and `test_app` for `test_app.TestIt::test_one`.

    A parameter may have dots in it; nothing of it is a module.
    """
    head = id.partition("[")[0]
    for match in re.finditer(r"::|\.", head):
        yield id[: match.start()]
