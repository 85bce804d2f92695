"""Which of a client's events `bridge add` writes entries for."""

from __future__ import annotations

from samuel.clients.table import CLIENTS

# Cursor tells these through `preToolUse` and `postToolUse`, too: a call would be judged twice.
_TOLD_OTHERWISE = {
    "cursor": (
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "afterShellExecution",
        "afterMCPExecution",
        "afterFileEdit",
    )
}


def registered_events(client: str) -> tuple[str, ...]:
    """The client's events with an entry, each call of a tool told once."""
    left_out = _TOLD_OTHERWISE.get(client, ())
    return tuple(event for event in CLIENTS[client].events if event not in left_out)
