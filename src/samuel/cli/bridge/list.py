from __future__ import annotations

from samuel.bridges.check import check
from samuel.cli.bridge import bridge_context
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.clients.table import LAYOUTS

COLUMNS = ("agent", "installed", "project", "user", "trust")


@command("list")
def list_(here: CommandContext) -> int:
    """List the agents and which of them ask Samuel.

    \b
        samuel bridge list
    """
    context = bridge_context(here)
    data, rows = [], []
    broken: list[str] = []
    for client in LAYOUTS:
        checked = check(context, client)
        broken += checked.broken
        levels = {entry.level for entry in checked.entries}
        trust = {level: step.state for level, step in checked.trust.items()}
        data.append(
            {
                "client": client,
                "program": checked.program,
                "files": [
                    {"level": entry.level, "file": str(entry.file), **fields_of(entry, "events", "current")}
                    for entry in checked.entries
                ],
                "trust": trust,
            }
        )
        at_levels = ("yes" if level in levels else "-" for level in ("project", "user"))
        states = ", ".join(sorted(set(trust.values())))
        rows.append([client, "yes" if checked.program else "no", *at_levels, states or "-"])
    return here.out.answer(data, OutputTable(COLUMNS, rows), warnings=broken)
