"""An agent by its name. A name in samuel.toml wins over one that Samuel ships."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.agents.configured import configured
from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.clients.adapter.agent import Agent
from samuel.clients.table import AGENTS
from samuel.config.model import AgentSettings


def find(name: str, settings: Mapping[str, AgentSettings]) -> Agent:
    if name in settings and (settings[name].command or name not in AGENTS):
        return configured(settings[name])
    if name in AGENTS:
        return AGENTS[name]
    names = sorted({*AGENTS, *settings})
    others = f"the agents are {', '.join(names)}; add your own as [agents.{name}] in samuel.toml"
    raise UsageError(f"there is no agent `{name}`", did_you_mean(name, names, others))
