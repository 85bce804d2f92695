"""Guards that agents cannot honour, accepted for one run."""

from __future__ import annotations

from msgspec.structs import replace

from samuel.attempt.tool_hooks import ACCEPT_ALL
from samuel.clients.table import AGENTS
from samuel.config.model import AgentSettings, Config


def accepting_unguarded(config: Config) -> Config:
    """The configuration in which it is accepted for all agents that they cannot honour a guard."""
    all_settings = {**{name: AgentSettings(name) for name in AGENTS}, **config.agents}
    agents = {name: replace(settings, unguarded=ACCEPT_ALL) for name, settings in all_settings.items()}
    return replace(config, agents=agents)
