"""Who may have changed something while an agent or a check worked, in words for a message."""

from __future__ import annotations

from collections.abc import Callable, Sequence

AGENT, CHECK, COMMIT = "the agent", "a check", "a filter or a hook of the commit"
WORKERS = {"agent": AGENT, "check": CHECK, "commit": COMMIT}


class Workers:
    """An agent or a check, and the hooks in the background that were at work meanwhile.

    The files do not tell who wrote them. So a worker that was not alone is not named alone.
    """

    def __init__(self, who: str, in_background: Callable[[], Sequence[str]]) -> None:
        self._who = who
        self._in_background = in_background
        self._hooks = set(in_background())

    def __str__(self) -> str:
        self._hooks.update(self._in_background())
        names = ", ".join(f"`{name}`" for name in sorted(self._hooks))
        hooks = "hook" if len(self._hooks) == 1 else "hooks"
        return f"{self._who} or the background {hooks} {names}" if names else self._who
