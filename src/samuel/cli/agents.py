from __future__ import annotations

import os
from typing import Any

from samuel.agents.check import InstalledAgent, installed_agents, version_number
from samuel.agents.find_agent import find
from samuel.base import paths
from samuel.bridges.check import BridgeState, bridge_state
from samuel.cli.bridge import bridge_context
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.clients.table import AGENTS
from samuel.config.project_file import load

COLUMNS = ("agent", "installed", "version", "checked with", "hooks", "last proof")
NOTHING = "-"


@command()
def agents(here: CommandContext) -> int:
    """List the agents and which of them are installed.

    Shows their versions, the versions that Samuel was checked with, whether their hooks ask Samuel, and what the
    last proof in this project concluded. A client that does not print its version in time is named in a warning.

    \b
        samuel agents
        samuel agents --json
    """
    context = bridge_context(here)
    settings = load(paths.Project(here.root).config).agents
    chosen = {name: find(name, settings) for name in (*AGENTS, *settings)}
    found_agents = installed_agents(chosen.values(), os.environ, here.root)
    bridges = {name: bridge_state(context, name) for name, agent in chosen.items() if agent is AGENTS.get(name)}
    data = [_plain(agent, bridges.get(agent.name)) for agent in found_agents]
    rows = [_row(agent, bridges.get(agent.name)) for agent in found_agents]
    notes = [f"{agent.name}: {agent.problem}" for agent in found_agents if agent.problem]
    notes += [f"{name}: {problem}" for name, bridge in bridges.items() if bridge for problem in bridge.problems]
    table = OutputTable(COLUMNS, rows, dispensable=("hooks", "last proof"))
    return here.out.answer({"agents": data}, table, warnings=notes)


def _plain(agent: InstalledAgent, bridge: BridgeState | None) -> dict[str, Any]:
    proof = bridge.proof if bridge else None
    return {
        **fields_of(agent, "name", "program"),
        "installed": bool(agent.path),
        **fields_of(agent, "path", "version", "checked", "problem", "install"),
        "hooks": None if bridge is None else fields_of(bridge, "levels", "problems"),
        "proof": None if proof is None else fields_of(proof, "verdict", "version", "why", "checked_at"),
    }


def _row(agent: InstalledAgent, bridge: BridgeState | None) -> tuple[str, ...]:
    version = version_number(agent.version) or agent.version or ("?" if agent.problem else NOTHING)
    return (
        agent.name,
        agent.path or NOTHING,
        version,
        agent.checked or NOTHING,
        _hooks(bridge),
        _proof(agent, bridge),
    )


def _hooks(bridge: BridgeState | None) -> str:
    if bridge is None or not bridge.levels:
        return NOTHING
    levels = ", ".join(bridge.levels)
    return f"{levels} (see below)" if bridge.problems else levels


def _proof(agent: InstalledAgent, bridge: BridgeState | None) -> str:
    if bridge is None or bridge.proof is None:
        return NOTHING
    proof = bridge.proof
    if not proof.version or proof.version == version_number(agent.version):
        return proof.verdict
    return f"{proof.verdict} (of {proof.version})"
