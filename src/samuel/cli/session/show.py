from __future__ import annotations

import msgspec

from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.cli.session.events import hints
from samuel.cli.session.options import chosen_or_last, id_option
from samuel.sessions.follow_up import describe


@command()
@id_option
def show(here: CommandContext, id: str) -> int:
    """Show what hooks returned in a session.

    \b
        samuel session show --json
    """
    session = chosen_or_last(here, id)
    data = msgspec.to_builtins(session)
    data.pop("tree", None)  # internal: what changed files are found by
    data["state"] = session.state
    blocks: list[str | OutputTable] = [f"session `{session.id}`, {session.state}, began {session.started}"]
    blocks += [*hints(session), *map(describe, session.follow_ups)]
    if session.messages:
        rows = [(message.at, message.event, message.text) for message in session.messages]
        blocks.append(OutputTable(("time", "event", "message"), rows))
    return here.out.answer(data, *blocks)
