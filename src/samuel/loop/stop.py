"""The two ways in which a run ends before its time: somebody's wish, and a step that cannot go on."""

from __future__ import annotations

from samuel.dispatch.record import Fired


class Stop:
    """Somebody wants the loop to end. Set from a signal handler, looked at between steps."""

    requested = False


class IterationEnded(Exception):
    """The iteration is over before its end."""

    def __init__(self, outcome: str, why: str, exit_reason: str = "", fired: Fired | None = None) -> None:
        super().__init__(why)
        self.fired = fired
        self.outcome = outcome
        self.why = why
        self.exit_reason = exit_reason  # set when the whole loop ends with it
