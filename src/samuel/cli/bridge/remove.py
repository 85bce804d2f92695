from __future__ import annotations

from samuel.bridges import files
from samuel.cli.bridge import bridge_context, change_options, known_clients, plain_change
from samuel.cli.command_context import CommandContext, command
from samuel.clients.entries.hook_trust import Level
from samuel.process.inside_a_run import refuse_inside_a_run


@command()
@change_options
def remove(here: CommandContext, agents: tuple[str, ...], level: Level, dry_run: bool) -> int:
    """Remove what `bridge add` wrote.

    The rest of the agent's file stays as it is, byte for byte. A file that `bridge add` made is deleted, unless
    something was added to it.

    \b
        samuel bridge remove claude codex
    """
    clients = known_clients(agents)
    if not dry_run:
        refuse_inside_a_run("the hooks of agents")
    changes = files.remove(bridge_context(here), clients, level, write=not dry_run)
    data = {"files": [plain_change(change, with_diff=dry_run) for change in changes]}
    changed = [change for change in changes if change.changes]
    if dry_run:
        return here.out.answer(data, *(change.diff().rstrip("\n") for change in changed))
    lines = [f"{'deleted' if change.after is None else 'removed from'} {change.file}" for change in changed]
    untouched = [client for client in clients if not any(change.client == client for change in changed)]
    lines += [f"nothing to remove for {client}" for client in untouched]
    return here.out.answer(data, *lines)
