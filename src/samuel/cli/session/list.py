from __future__ import annotations

from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.sessions.session import QUEUED
from samuel.sessions.store import SessionStore

COLUMNS = ("id", "state", "started", "waiting")


@command("list")
def list_(here: CommandContext) -> int:
    """List all sessions.

    With the number of pending follow-up actions, which `samuel session do` carries out.

    \b
        samuel session list
    """
    sessions = sorted(SessionStore(here.root).all(), key=lambda session: session.started)
    rows = [
        (session.id, session.state, session.started, sum(action.state == QUEUED for action in session.follow_ups))
        for session in sessions
    ]
    data = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    table = (
        OutputTable(COLUMNS, [tuple(map(str, row)) for row in rows]) if rows else "there has been no session yet"
    )
    return here.out.answer(data, table)
