from __future__ import annotations

import json
from collections.abc import Sequence

import click

from samuel.base.errors import UsageError
from samuel.bridges import files
from samuel.bridges.check import trust_step
from samuel.bridges.managed import managed_hooks
from samuel.cli.bridge import bridge_context, change_options, known_clients, plain_change
from samuel.cli.command_context import CommandContext, command
from samuel.cli.guard_offer import offer_guard
from samuel.clients.dialect.limits import LOST
from samuel.clients.dialect.support import support
from samuel.clients.entries.hook_trust import Level
from samuel.clients.table import CLIENTS
from samuel.events import EVENTS
from samuel.hooks.handler import HandlerStatus
from samuel.process.inside_a_run import refuse_inside_a_run


@command()
@change_options
@click.option("--yes", is_flag=True, help="Ask nothing, and enable no hook.")
@click.option(
    "--managed",
    is_flag=True,
    help="Print the file that an administrator installs for all users of a machine, and write nothing.",
)
def add(
    here: CommandContext, agents: tuple[str, ...], level: Level, dry_run: bool, yes: bool, managed: bool
) -> int:
    """Let an agent's own hooks ask Samuel.

    Writes entries that run `samuel emit --as AGENT EVENT` into the agent's own file, and changes nothing else in
    it. Idempotent. All files are checked before the first one is written. `samuel bridge remove` removes the
    entries again, byte for byte. Hooks of this project that have no effect in the agent are named in warnings.

    \b
        samuel bridge add claude codex gemini
        samuel bridge add --user kimi --dry-run
        samuel bridge add --managed claude > managed-settings.json
    """
    clients = known_clients(agents)
    if managed:
        return _print_managed(here, clients, level)
    if not dry_run:
        refuse_inside_a_run("the hooks of agents")
    lost = _lost_handlers(here, clients)
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
        "lost": lost,
    }
    notes = [f"{client}: before its hooks run, {step.step}" for client, step in open_steps.items()]
    notes = [] if dry_run else notes
    notes += [
        f"{client}: `{name}` on {event} has no effect: {why}; "
        f"`samuel hooks check --agent {client}` shows all hooks"
        for client, name, event, why in (handler.values() for handler in lost)
    ]
    lines += [] if dry_run else offer_guard(here, here.root, ask=not yes)
    return here.out.answer(data, *lines, warnings=notes)


def _print_managed(here: CommandContext, clients: Sequence[str], level: Level) -> int:
    """Print an administrator's file alone, so that the output can be one; where it belongs is a warning."""
    if level == "user" or len(clients) != 1:
        raise UsageError("`--managed` prints the file of one agent", "give one AGENT, and no `--user`")
    hooks = managed_hooks(clients[0], bridge_context(here).system)
    place = f"install this as `{hooks.file}` on each machine, owned by root and writable by no other user"
    data = {"client": hooks.client, "file": str(hooks.file), "content": json.loads(hooks.text)}
    return here.out.answer(data, hooks.text.rstrip("\n"), warnings=[place])


def _lost_handlers(here: CommandContext, clients: Sequence[str]) -> list[dict[str, str]]:
    """The handlers of session events whose answers these clients ignore, or whose events they never fire."""
    lost = []
    with here.open() as app:
        for event in (kind.name for kind in EVENTS if kind.family == "session"):
            for step in app.chains[event].steps:
                for client in clients:
                    verdict, why = support(CLIENTS[client], step.handler, event)
                    # One that is broken or not trusted stands in every chain that it might belong to.
                    is_of_event = step.handler.status is HandlerStatus.ACTIVE
                    if verdict == LOST and (is_of_event or event in CLIENTS[client].events.values()):
                        lost.append({"client": client, "name": step.handler.name, "event": event, "why": why})
    return lost
