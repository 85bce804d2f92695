"""Verifying receipts: whether each belongs to its commit, and whether its checks say the same once more."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.paths import CONFIG
from samuel.base.printable import listed, safe
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.planting import YES
from samuel.confine import sandbox as sandboxes
from samuel.events.loop import CheckRun
from samuel.evidence.room import CheckVariables, CleanRoom
from samuel.git.git import GitFailed
from samuel.git.trees import Trees
from samuel.receipts.comparison import environment_remarks
from samuel.receipts.notes import ReceiptNotes
from samuel.receipts.recorded import RecordedPredicate, RecordedWork, recorded_predicate
from samuel.receipts.statement import (
    ReceiptBroken,
    read_statement,
    statement,
    subject_of,
    trailer_digests,
    why_not_of,
)
from samuel.receipts.task_receipt import checks_environment
from samuel.verify.answer import NotVerified, Verification
from samuel.verify.corner_trees import OWN_CORNERS, SEALED_CORNERS
from samuel.verify.corners_again import CornersAgain
from samuel.verify.grade_again import GradeAgain
from samuel.verify.locked_again import locked_contents, without_hidden_tests
from samuel.verify.rerun import ChecksAgain
from samuel.verify.sealed_again import SealedAgain
from samuel.verify.targets import VerifyTarget

MOST_ANCESTORS = 50
MOST_NAMED = 5


class Verifier:
    """Verifies receipts of one project. `directory` is outside of it, and only for this."""

    def __init__(self, place: Workplace, directory: Path, agreed: Iterable[str]) -> None:
        """`agreed` are the commands that may run."""
        self._place = place
        self._agreed = frozenset(agreed)
        self._trees = Trees(place.git, directory / "trees")
        self._notes = ReceiptNotes(place.git)
        variables = CheckVariables(place.environment, place.git.location().top)
        self._room = CleanRoom(self._trees, directory, place.check_directory, variables=variables)
        self._is_prepared = False

    def verify(self, target: VerifyTarget) -> Verification:
        """What verifying one receipt comes to."""
        result = Verification(commit=target.commit)
        remarks: list[str] = []
        try:
            receipt, tree = self._receipt(target)
            predicate = recorded_predicate(receipt["predicate"])
            result = Verification(commit=target.commit, title=predicate.title, grade=predicate.grade)
            self._check_again(target.commit, tree, predicate, remarks)
        except NotVerified as not_verified:
            return _with(result, not_verified, remarks)
        except ReceiptBroken as error:
            return _with(result, NotVerified("different", error.message), remarks)
        except SamuelError as error:
            return _with(result, NotVerified("cannot", error.message), remarks)
        return Verification(commit=result.commit, title=result.title, grade=result.grade, remarks=tuple(remarks))

    # Whether the receipt belongs to the commit

    def _receipt(self, target: VerifyTarget) -> tuple[dict[str, Any], str]:
        """The receipt, and the tree that it is about. Raises NotVerified, and ReceiptBroken."""
        if not target.commit:
            assert target.receipt is not None
            return self._of_tree(target.receipt)
        try:
            tree, message = self._notes.facts(target.commit)
        except GitFailed:
            raise NotVerified(
                "cannot", f"this repository does not have the commit {safe(target.commit[:40])}; fetch it"
            ) from None
        receipt = target.receipt
        if receipt is None:
            text = self._notes.read(target.commit)
            if text is None:
                raise NotVerified("different", "the commit has no receipt")
            receipt = read_statement(text)
        if why := why_not_of(receipt, target.commit, tree, message):
            raise NotVerified("different", why)
        return receipt, tree

    def _of_tree(self, receipt: dict[str, Any]) -> tuple[dict[str, Any], str]:
        _, tree = subject_of(receipt)
        if receipt != statement(receipt["predicate"], "", tree) or not tree:
            raise ReceiptBroken("its `subject` is neither a commit nor a tree")
        if not self._trees.refs.exist([tree]):
            raise NotVerified("cannot", f"this repository does not have the tree {safe(tree[:40])}")
        return receipt, tree

    # Whether its checks say the same

    def _check_again(self, commit: str, tree: str, predicate: RecordedPredicate, remarks: list[str]) -> None:
        base = self._base(commit, tree, predicate.work, remarks) if predicate.work else self._ancestors(commit)[0]
        if CONFIG in self._trees.differing(base, tree):
            raise NotVerified("different", f"it changes `{CONFIG}`, which no agent may change")
        self._refuse_missing_checks(tree, predicate)
        self._refuse_what_cannot_run(predicate)
        own = [run.command for corner in predicate.corners if corner.corner in OWN_CORNERS for run in corner.runs]
        locked = locked_contents(self._trees, base, tree, predicate)
        own_tree = without_hidden_tests(self._trees, tree, locked, predicate)
        tests = ChangedTests(self._trees, base, own_tree, list(dict.fromkeys(own)))
        self._prepare(tree)
        with self._room.showing(tree):
            here = checks_environment(self._place, self._room, own)
        checks = ChecksAgain(self._place, self._room)
        sealed = SealedAgain(self._place, self._room, predicate)
        corners = CornersAgain(predicate, tests, locked, checks, sealed)
        remarks += environment_remarks(predicate.environment, here)
        if predicate.evidence and predicate.evidence.place == "in place":
            remarks.append("the checks ran in the work tree of the agent, and here in a clean one")
        try:
            runs = corners.runs()
        finally:
            remarks += (*checks.remarks, *sealed.remarks)
        if predicate.task is not None and predicate.evidence is not None:
            self._judge_again(predicate, tests, runs, checks, remarks)

    def _judge_again(
        self,
        predicate: RecordedPredicate,
        tests: ChangedTests,
        runs: dict[str, list[CheckRun]],
        checks: ChecksAgain,
        remarks: list[str],
    ) -> None:
        """Whether the grade follows from the runs. Raises NotVerified."""
        task, evidence = predicate.task, predicate.evidence
        assert task is not None
        assert evidence is not None
        GradeAgain(predicate, tests, runs).refuse_another()
        if predicate.grade == "disputed":
            remarks.append("old tests fail with this work, and a person accepted that")
        if evidence.shown_to_fail == YES:
            planted = checks.shown_to_fail(tests, runs.get("own", []), task.id)
            if planted.disarmed:
                raise NotVerified("different", f"the checks cannot fail here: {planted.disarmed}")
            if planted.answer != YES:
                remarks.append(f"that the checks can fail was not shown here: {planted.answer}")

    def _base(self, commit: str, tree: str, work: RecordedWork, remarks: list[str]) -> str:
        """The tree that the work began with. Raises NotVerified if no commit before this one has it."""
        base, own = work.base.get("gitTree", ""), work.tree.get("gitTree", "")
        if work.not_committed:
            named = listed([f"`{safe(path)}`" for path in work.not_committed], MOST_NAMED)
            remarks.append(f"the checks of the run saw files in another state than the commit has them: {named}")
        elif own != tree:
            raise NotVerified("different", f"its checks passed on the tree {safe(own[:12])}, not on this one")
        if not commit:
            if not self._trees.refs.exist([base]):
                raise NotVerified("cannot", f"this repository does not have the tree {safe(base[:40])}")
            return base
        trees = self._ancestors(commit)
        if base in trees:
            if between := trees.index(base):
                remarks.append(f"it is the work of the {between} commits before it as well")
            return base
        if not work.not_committed:
            raise NotVerified("different", f"no commit before it has the tree it began with: {safe(base[:12])}")
        return trees[0] if trees else self._place.git.empty_tree()

    def _ancestors(self, commit: str) -> list[str]:
        """The trees of the commits before this one, the nearest first, to the nearest that has a receipt.

        Those that have none may be commits of the same agent; what comes before is other work.
        """
        options = ("--first-parent", "--skip=1", f"--max-count={MOST_ANCESTORS}", "--no-notes", "-z")
        output = self._place.git.run("log", *options, "--format=%T%n%B", commit, "--").decode("utf-8", "replace")
        trees = []
        for entry in output.split("\0"):
            tree, _, message = entry.partition("\n")
            if tree:
                trees.append(tree)
            if trailer_digests(message):
                break
        return trees

    def _refuse_missing_checks(self, tree: str, predicate: RecordedPredicate) -> None:
        """A receipt without a check of the project says less than it must."""
        own = {run.command for corner in predicate.corners if corner.corner in OWN_CORNERS for run in corner.runs}
        checks, sealed_checks = self._checks_of(tree, predicate.methodology)
        if missing := [command for command in checks if command not in own]:
            raise NotVerified("different", f"it has no run of `{missing[0]}`, a check of this project")
        sealed = [run for corner in predicate.corners if corner.corner == "sealed" for run in corner.runs]
        if len(sealed) < len(sealed_checks):
            raise NotVerified("different", "it has no run of each sealed check of this project")

    def _checks_of(self, tree: str, methodology: str) -> tuple[Sequence[str], Sequence[str]]:
        """The checks and the sealed checks in the samuel.toml of a commit; those of now, if it is not in git."""
        text, settings = self._trees.content(tree, CONFIG), self._place.settings
        if text is None:
            return settings.quality_checks, settings.sealed_checks
        with suppress(ValueError, KeyError, TypeError):
            table = tomllib.loads(text.decode())["methodology"][methodology or settings.name]
            checks, sealed = table.get("quality_checks", ()), table.get("sealed_checks", ())
            return [str(command) for command in checks], [str(command) for command in sealed]
        return (), ()

    def _refuse_what_cannot_run(self, predicate: RecordedPredicate) -> None:
        """Only what was agreed to in this project runs, and only where the receipt says it did."""
        corners = [corner for corner in predicate.corners if corner.corner not in SEALED_CORNERS]
        commands = dict.fromkeys(run.command for corner in corners for run in corner.runs)
        if refused := [command for command in commands if command not in self._agreed]:
            named = listed([f"`{safe(command, keep='')}`" for command in refused], MOST_NAMED)
            raise NotVerified("cannot", f"not agreed to in this project: {named}; `samuel trust` shows its checks")
        image = str((predicate.environment.get("sandbox") or {}).get("image") or "")
        sandbox = self._place.settings.sandbox
        if image and image != sandbox.image:
            raise NotVerified("cannot", f"samuel.toml does not name the image of its checks: `{safe(image)}`")
        if why := sandboxes.missing(sandbox, self._place.confinement):
            raise NotVerified("cannot", f"its checks ran in a sandbox, which cannot be had here: {why}")

    def _prepare(self, tree: str) -> None:
        if not self._is_prepared:
            self._room.prepare(tree, self._trees.ignored())
            self._is_prepared = True


def _with(result: Verification, not_verified: NotVerified, remarks: Sequence[str]) -> Verification:
    return Verification(
        commit=result.commit,
        title=result.title,
        grade=result.grade,
        answer=not_verified.answer,
        reasons=not_verified.reasons,
        remarks=tuple(remarks),
    )
