from __future__ import annotations

import click

from samuel.cli.bridge import bridge_context, known_clients
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable

COLUMNS = ("agent", "verdict", "about")


@click.command()
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@json_option
@click.pass_obj
def check(here: CommandContext, agents: tuple[str, ...]) -> int:
    """Check that an agent's hooks ask Samuel.

    Looks at the agent's files, at whether the agent trusts them, and at the command that they name. Exits with 1
    if something keeps the hooks from working.

    \b
        samuel bridge check claude
    """
    from samuel.bridges.check import check as check_bridge  # the table of clients, which `--help` does without

    context = bridge_context(here)
    checks = [check_bridge(context, client) for client in known_clients(agents)]
    rows = []
    for checked in checks:
        rows += [[checked.client, "problem", problem] for problem in checked.problems]
        if checked.ok:
            places = ", ".join(str(entry.file) for entry in checked.entries)
            rows.append([checked.client, "ok", f"its hooks ask Samuel: {places}"])
        rows += [[checked.client, "note", note] for note in checked.notes]
    data = [
        {
            "client": checked.client,
            "ok": checked.ok,
            "files": [{"level": entry.level, "file": str(entry.file)} for entry in checked.entries],
            "trust": {level: step.state for level, step in checked.trust.items()},
            "program": checked.program,
            "problems": list(checked.problems),
            "notes": list(checked.notes),
        }
        for checked in checks
    ]
    return here.out.answer(
        data, OutputTable(COLUMNS, rows, folded=("about",)), ok=all(checked.ok for checked in checks)
    )
