"""Verifying receipts of an opened project: which commands may run, and where."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from samuel.app.project import App
from samuel.base.errors import SamuelError
from samuel.evidence.check_directory import CheckDirectory
from samuel.evidence.surroundings.copies import remove
from samuel.receipts.statement import ReceiptBroken
from samuel.trust.commands import quality, task_checks
from samuel.verify.answer import Verification
from samuel.verify.targets import targets_of
from samuel.verify.verifier import Verifier


def verify(app: App, name: str, directory: Path, *, also: Sequence[str] = ()) -> list[Verification]:
    """Verify the receipts that `name` means: a file seen from `directory`, a commit or a range.

    `also` are commands that may run, beside those that were agreed to. Raises SamuelError.
    """
    place = app.workplace
    place.git.location()  # raises GitFailed outside of a repository
    try:
        targets = targets_of(place.git, name, directory)
    except ReceiptBroken as broken:
        return [Verification(commit="", answer="different", reasons=(broken.message,))]
    if not targets:
        return [Verification(commit="", answer="cannot", reasons=(f"`{name}` has no commits",))]
    app.user.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="verify-", dir=app.user.cache, ignore_cleanup_errors=True) as own:
        state = Path(own) / "state"
        state.mkdir()
        # Checks write their reports there, and nothing in the project.
        place = dataclasses.replace(place, state=state, check_directory=CheckDirectory())
        verifier = Verifier(place, Path(own), [*_agreed(app), *also])
        try:
            return [verifier.verify(target) for target in targets]
        finally:
            remove(Path(own) / "room")  # also what a check made unwritable


def _agreed(app: App) -> Iterator[str]:
    """The check commands that the user agreed to in this project: of samuel.toml, and of the tasks."""
    for methodology in app.config.methodology.values():
        text = quality(methodology)
        if text and not app.permit.text(*text[:2]):
            yield from methodology.quality_checks
    with suppress(SamuelError):  # a clone has no task list
        checks = [(task.id, task.checks) for task in app.workplace.tasks.load() if task.checks]
        text = task_checks(app.methodology, checks)
        if text and not app.permit.text(*text[:2]):
            yield from (command for _, commands in checks for command in commands)
