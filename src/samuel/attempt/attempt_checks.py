"""The checks of one attempt: each run is watched like an agent, since it executes what the agent wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from samuel.attempt.sealed_run import run_sealed
from samuel.attempt.workplace import Workplace
from samuel.checks.sealed_judge import SealedRun
from samuel.dispatch.record import Fired
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.evidence.sealed import SealedCheck
from samuel.hooks.handler import Origin


class AttemptChecks:
    """Runs checks on the tree that is shown; `fire` fires `quality.check`, and `window` watches what runs."""

    def __init__(
        self,
        place: Workplace,
        fire: Callable[[], Fired],
        window: Callable[[], AbstractContextManager[None]],
        names: Callable[[], Mapping[str, str]],
    ) -> None:
        """`names` gives the variables from which a sealed check knows its task."""
        self._place = place
        self._names = names
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

    def sealed(self, check: SealedCheck, corner: Corner) -> SealedRun:
        with self._window():
            return run_sealed(self._place, self._names(), check, corner)

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun | None:
        with self._window():
            return self._place.built_in_checks(command, corner, line)
