"""Whether the acceptance tests that an agent wrote can be locked: new test files that fail before the work.

They must fail by an assertion or for a name that does not exist yet. One that passes already shows nothing, and
one that fails for any other reason may fail for ever, since the worker cannot change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from samuel.base.printable import file_name, listed
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.verdict import has_no_tests, record_of
from samuel.events.loop import CheckRun, FailureKind
from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.reports.ids import is_stable
from samuel.evidence.settings.check_settings import is_check_setting
from samuel.history.attempt_record import CheckRecord

MOST_NAMED = 5
MOST_BYTES = 1 << 20  # of all files together

NOTHING = "no file was written"
NOT_RUN = "no check ran them: put them where the checks of the project look for tests"


class WrittenTests(NamedTuple):
    """What an agent wrote as acceptance tests."""

    why: str = ""
    """Why it cannot be locked; "" if it can."""
    files: Mapping[str, bytes] = {}
    names: tuple[str, ...] = ()
    """The tests, or the check commands where the tests are not known."""
    red: tuple[CheckRun, ...] = ()
    """The checks that failed with them, each with these tests alone."""
    records: tuple[CheckRecord, ...] = ()

    @property
    def before(self) -> tuple[CheckRecord, ...]:
        """The records of the checks that failed with them."""
        commands = {run.command for run in self.red}
        return tuple(replace(record, output_tail="") for record in self.records if record.command in commands)


class _NewResults(NamedTuple):
    """What the new tests did in the run of one check."""

    failed: dict[str, FailureKind]
    passed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """Old tests that passed, and fail with the new files."""


def judge_written(tests: ChangedTests, runs: CornerRuns) -> WrittenTests:
    """What of an agent's change can be locked as acceptance tests."""
    if why := _wrong_files(tests):
        return WrittenTests(why)
    try:
        return _judge_runs(tests, runs)
    except RoomFailed as failed:
        return WrittenTests(f"the checks could not run: {failed.message}")


def _wrong_files(tests: ChangedTests) -> str:
    """Why these files cannot be acceptance tests, whatever is in them."""
    if not tests.changed:
        return NOTHING
    if existing := [path for path in tests.changed if tests.is_verified(path)]:
        return f"files of the project were changed: {_paths(existing)}; write new files only"
    settings = [path for path in tests.paths if is_check_setting(path)]
    if others := [*tests.sources, *settings]:
        return f"files were written that are not tests: {_paths(others)}"
    if odd := [path for path in tests.changed if path != file_name(path) or not tests.is_plain_file(path)]:
        return f"not all are plain files: {_paths(odd)}"
    if sum(len(tests.content_after(path)) for path in tests.changed) > MOST_BYTES:
        return f"they are larger than {MOST_BYTES >> 20} MiB"
    return ""


def _judge_runs(tests: ChangedTests, runs: CornerRuns) -> WrittenTests:
    work, changed = runs.own(tests.own, repeat=False)
    contents = {path: tests.content_after(path) for path in tests.changed}
    by_formatter = {path: content for path, content in changed.items() if content is not None and path in contents}
    before = {run.command: run for run in runs.before}
    first = [run for run in work.runs if run.command in before]
    tree = tests.verified_with({**contents, **by_formatter})  # with what will be locked
    red = runs.corner("acceptance before", tree, [run.command for run in first if not run.passed])
    records = tuple(replace(record_of(run, corner="acceptance before"), tree=tree) for run in (red or first))
    again = {run.command: run for run in red}
    last = [again.get(run.command, run) for run in first]
    results = {run.command: _new_results(before[run.command], run) for run in last}
    if any(result.passed or result.skipped for result in results.values()):
        # What passed may be a test that came since the checks last ran on the verified tree.
        fresh = runs.corner("before", tests.verified, [run.command for run in last])
        before |= {run.command: run for run in fresh}
        results = {run.command: _new_results(before[run.command], run) for run in last}
    names = tuple(dict.fromkeys(name for result in results.values() for name in result.failed))
    why = _wrong_results(results.values(), names)
    failing = tuple(_these_alone(run, results[run.command].failed) for run in red if results[run.command].failed)
    return WrittenTests(why, {**contents, **by_formatter}, names, failing, records)


def _new_results(before: CheckRun, after: CheckRun) -> _NewResults:
    old, now = before.tests or {}, after.tests or {}
    is_listed = before.tests is not None or has_no_tests(before)
    new = {id: result for id, result in now.items() if is_listed and id not in old and is_stable(id)}
    kinds = after.kinds or {}
    failed = {id: kind for id, kind in kinds.items() if id not in old}
    if not kinds and not after.passed and (before.passed or has_no_tests(before)):
        failed = {after.command: after.failure_kind}
    return _NewResults(
        failed,
        tuple(id for id, result in new.items() if result == "passed"),
        tuple(id for id, result in new.items() if result == "skipped"),
        tuple(id for id in kinds if old.get(id) == "passed"),
    )


def _wrong_results(results: Iterable[_NewResults], names: Sequence[str]) -> str:
    """Why what these tests did does not let them be locked; "" if it does."""
    results = list(results)
    for group, words in (
        ([id for result in results for id in result.broken], "tests of the project fail with them"),
        ([id for result in results for id in result.passed], "they pass before any work is done"),
        ([id for result in results for id in result.skipped], "they are skipped"),
        (
            [id for result in results for id, kind in result.failed.items() if kind == "error"],
            "they fail neither by an assertion nor for a name that does not exist yet",
        ),
    ):
        if group:
            return f"{words}: {listed([f'`{name}`' for name in group], MOST_NAMED)}"
    return "" if names else NOT_RUN


def _these_alone(run: CheckRun, failed: Mapping[str, FailureKind]) -> CheckRun:
    """A run without its output, and of its tests only the new ones."""
    kinds = dict(failed) if run.kinds else None
    return replace(run, output_tail="", tests=None, kinds=kinds)


def _paths(paths: Sequence[str]) -> str:
    return listed([f"`{file_name(path)}`" for path in paths], MOST_NAMED)
