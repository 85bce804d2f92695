"""The checks of one attempt: each run is watched like an agent, since it executes what the agent wrote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from samuel.attempt.run_files import RunFiles
from samuel.attempt.workplace import Workplace
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.put_back import PutBack
from samuel.dispatch.record import Fired
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import CheckRoom
from samuel.evidence.corner import Corner
from samuel.evidence.work_tree_room import WorkTreeRoom
from samuel.history.attempts import AttemptChanges
from samuel.hooks.handler import Origin


class AttemptChecks:
    """Runs checks on the tree that is shown; `fire` fires `quality.check`, and `window` watches what runs."""

    def __init__(
        self, place: Workplace, fire: Callable[[], Fired], window: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._place = place
        self._fire = fire
        self._window = window
        self.others_ran = False
        """Whether handlers other than the built-in one took part."""

    def all(self) -> Fired:
        self._place.built_in_checks.forget()
        with self._window():
            fired = self._fire()
        self.others_ran = any(
            call.handler.origin is not Origin.BUILT_IN and call.would is None for call in fired.calls
        )
        return fired

    def corners(self, files: RunFiles, changes: AttemptChanges, save: Callable[[], None]) -> CornerRuns:
        """Runs these checks on the trees of an attempt; `save` writes the state of its work tree to disk."""
        put_back = PutBack(files.trees, files.attempts, save) if files.trees else None
        room: CheckRoom | None = files.room
        if room is None and files.trees is not None and changes.tree:
            room = WorkTreeRoom(files.trees, files.attempts, changes.tree, save)
        return CornerRuns(put_back, room if changes.tree else None, files.checks, self, self._place.watch)

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun | None:
        with self._window():
            return self._place.built_in_checks(command, corner, line)
