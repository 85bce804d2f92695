from __future__ import annotations

import click

from samuel.agents.find_agent import find
from samuel.app import App
from samuel.app.discovery import tool_name_warnings
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import OutputTable
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.limits import LOST, Limit
from samuel.clients.dialect.support import support
from samuel.clients.table import AGENTS, CLIENTS
from samuel.clients.table import client as client_named
from samuel.events import EVENTS

COLUMNS = ("name", "event", "verdict", "why")


@command()
@click.option(
    "--agent", required=True, metavar="AGENT", help="The agent whose own hooks call Samuel, like claude."
)
@env_option
def check(here: CommandContext, agent: str, environment: str) -> int:
    """Check which hooks an agent honours.

    For each handler of a session event, when the agent calls Samuel from its own hooks: `honoured`; `limited`, if
    only a part of what it may answer counts; or `lost`, if the agent ignores what it answers or does not
    report the event. Exits with 1 if one is lost.

    \b
        samuel hooks check --agent claude
    """
    with here.open(environment=environment) as app:
        client = _client(app, agent)
        rows = _rows(app, agent, client)
        warnings = [*app.warnings, *tool_name_warnings(app)]
    lost = [row for row in rows if row["verdict"] == LOST]
    blocks = [OutputTable.of(COLUMNS, rows, folded=("why",))]
    title = client.title if client else agent
    text = [] if rows else [f"no hook handles an event of a session, so {title} can lose none"]
    data = {"agent": agent, "documented": client is not None and client.documented, "handlers": rows}
    return here.out.answer(data, *(blocks if rows else text), ok=not lost, warnings=warnings)


def _client(app: App, agent: str) -> Client | None:
    """The client that this agent is, or wraps; None if it has no hooks that Samuel could answer."""
    if agent not in app.config.agents and (agent in CLIENTS or agent not in AGENTS):
        return client_named(agent)
    hooks = find(agent, app.config.agents).hooks
    return client_named(hooks) if hooks else None


def _rows(app: App, agent: str, client: Client | None) -> list[dict[str, str]]:
    """Event by event, in the order they run."""
    rows = []
    no_hooks = Limit(LOST, f"Samuel knows no hooks of `{agent}`")
    for event in (kind.name for kind in EVENTS if kind.family == "session"):
        for step in app.chains[event].steps:
            verdict, why = support(client, step.handler, event) if client else no_hooks
            rows.append({"name": step.handler.name, "event": event, "verdict": verdict, "why": why})
    return rows
