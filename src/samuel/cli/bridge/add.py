from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel.cli.bridge import (
    bridge_context,
    dry_run_option,
    known_clients,
    level_options,
    plain_change,
    refuse_inside_a_run,
)
from samuel.cli.command_context import CommandContext, json_option

if TYPE_CHECKING:
    from samuel.clients.entries.hook_trust import Level


@click.command()
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@level_options
@dry_run_option
@json_option
@click.pass_obj
def add(here: CommandContext, agents: tuple[str, ...], level: Level, dry_run: bool) -> int:
    """Let an agent's own hooks ask Samuel.

    Writes entries that run `samuel emit --as AGENT EVENT` into the agent's own file, and changes nothing else in
    it. Idempotent. All files are checked before the first one is written. `samuel bridge remove` removes the
    entries again, byte for byte. Hooks of this project that have no effect in the agent are named in warnings.

    \b
        samuel bridge add claude codex gemini
        samuel bridge add --user kimi --dry-run
    """
    from samuel.bridges import files  # the table of clients, which `--help` does without
    from samuel.bridges.check import trust_step
    from samuel.cli.bridge.lost_handlers import lost_handlers

    clients = known_clients(agents)
    if not dry_run:
        refuse_inside_a_run()
    lost = lost_handlers(here, clients)
    context = bridge_context(here)
    changes = files.add(context, clients, level, write=not dry_run)
    lines = []
    for change in changes:
        if dry_run:
            lines += [change.diff().rstrip("\n")] if change.changes else []
        else:
            lines.append(f"{'added to' if change.changes else 'already in'} {change.file}")
    steps = {
        client: trust_step(context, client, level, files.entries(context, client, level)) for client in clients
    }
    open_steps = {client: step for client, step in steps.items() if step.state in ("untrusted", "unknown")}
    data = {
        "files": [plain_change(change, with_diff=dry_run) for change in changes],
        "trust": [{"client": client, "state": step.state, "step": step.step} for client, step in steps.items()],
        "lost": [handler._asdict() for handler in lost],
    }
    notes = [f"{client}: before its hooks run, {step.step}" for client, step in open_steps.items()]
    notes = [] if dry_run else notes
    return here.out.answer(data, *lines, warnings=[*notes, *map(str, lost)])
