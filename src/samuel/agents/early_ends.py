"""Which agents of a run a person wants to end: written by the coordinator, read by whatever watches an agent."""

from __future__ import annotations


class EarlyEnds:
    """Shared by the coordinator and all lanes of a run. Iterations of a run have numbers of their own."""

    def __init__(self) -> None:
        self._reasons: dict[int, str] = {}

    def end(self, iteration: int, why: str) -> None:
        """Let the agent of this iteration end, now or as soon as it starts."""
        self._reasons.setdefault(iteration, why)

    def why(self, iteration: int) -> str:
        """Why the agent of this iteration has to end; "" if it does not."""
        return self._reasons.get(iteration, "")
