"""Running the corners of a receipt again, each on a tree that is made from the commit and what it began with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samuel.base.printable import safe
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.narrowed_runs import on_changed_tests
from samuel.checks.verdict import counting_failures
from samuel.events.loop import CheckRun
from samuel.receipts.recorded import RecordedCorner, RecordedPredicate
from samuel.verify.answer import NotVerified
from samuel.verify.corner_trees import OWN_CORNERS, SEALED_CORNERS, corner_tree
from samuel.verify.rerun import ChecksAgain
from samuel.verify.sealed_again import SealedAgain
from samuel.version import __version__

MUST_PASS = (*OWN_CORNERS, "old tests", "acceptance", "sealed")
"""The corners with the work: a check that fails in one of them keeps a task from being completed."""


class CornersAgain:
    """The corners of one receipt; `locked` are the files with its acceptance tests."""

    def __init__(
        self,
        predicate: RecordedPredicate,
        tests: ChangedTests,
        locked: Mapping[str, bytes],
        checks: ChecksAgain,
        sealed: SealedAgain,
    ) -> None:
        self._predicate = predicate
        self._tests = tests
        self._locked = locked
        self._checks = checks
        self._sealed = sealed

    def runs(self) -> dict[str, list[CheckRun]]:
        """The runs of each corner. Raises NotVerified after the first corner that is different.

        Sealed checks come last: where they are not, it is known at least whether anything else is different.
        """
        self._sealed.remark_other_programs()
        runs: dict[str, list[CheckRun]] = {}
        corners = [corner for corner in self._predicate.corners if corner.corner != "planted"]
        for corner in sorted(corners, key=lambda corner: corner.corner in SEALED_CORNERS):
            of_corner, different = self._compared(corner)
            if different:
                raise NotVerified("different", *different)
            runs.setdefault(corner.corner, []).extend(of_corner)
        self._refuse_failures(runs)
        return runs

    def _refuse_failures(self, runs: Mapping[str, Sequence[CheckRun]]) -> None:
        """Raise NotVerified if a check fails with the work: no run completes that, unless it failed before."""
        corners = [name for name in MUST_PASS if name != "old tests" or self._predicate.grade != "disputed"]
        for corner in corners:
            for run in (run for run in runs.get(corner, ()) if not run.passed):
                if corner == "sealed" or self._counts(run):
                    raise NotVerified(
                        "different", f"`{run.command}` ({corner}) fails with the work, and did not before"
                    )

    def _counts(self, run: CheckRun) -> bool:
        """Whether what fails in a run did not fail before the work."""
        task = self._predicate.task
        before = self._checks.run(self._tests.verified, run.command, task.id if task else "")
        return bool(counting_failures([run], [before], None))

    def _compared(self, corner: RecordedCorner) -> tuple[list[CheckRun], list[str]]:
        """The runs of one corner, and what is different."""
        task = self._predicate.task
        trees = [self._tree(corner, recorded.command) for recorded in corner.runs]
        if not all(trees):
            raise NotVerified("cannot", f"the corner `{safe(corner.corner)}` cannot be made again here")
        different: list[str] = []
        if self._is_whole and corner.corner not in OWN_CORNERS and corner.tree.get("gitTree") not in trees:
            different.append(f"its corner `{corner.corner}` ran on another tree than {trees[0][:12]}")
        if corner.corner in SEALED_CORNERS:
            runs, changes = self._sealed.compared(corner, trees[0])
            return runs, [*different, *changes]
        runs = []
        for recorded, tree in zip(corner.runs, trees, strict=True):
            line = on_changed_tests(self._tests, recorded.command) if corner.corner == "old source" else ""
            run, changes = self._checks.compared(corner.corner, tree, recorded, task.id if task else "", line)
            runs.append(run)
            different += changes
        return runs, different

    def _tree(self, corner: RecordedCorner, command: str) -> str:
        work, task = self._predicate.work, self._predicate.task
        is_own = task is not None and command in task.checks
        not_owned = work.not_owned if work else ()
        return corner_tree(corner.corner, self._tests, not_owned, self._locked, is_own=is_own)

    @property
    def _is_whole(self) -> bool:
        """Whether the trees of the corners must be those of the receipt."""
        work = self._predicate.work
        return self._predicate.samuel == __version__ and not (work and work.not_committed)
