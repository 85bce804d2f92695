"""The hooks that judge the tool calls of agents: whether there are any, and whether an agent honours them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from samuel.agents.agent import Agent
from samuel.bridges.guards import LostGuard, lost_guards
from samuel.config.model import AgentSettings
from samuel.events.names import POST_ABILITY_CALL, PRE_ABILITY_CALL
from samuel.hooks.order import Chain

ACCEPT = "accept"


def _nothing() -> str:
    return ""


@dataclass(frozen=True)
class ToolHooks:
    chains: Mapping[str, Chain] = field(default_factory=dict)
    pin: Callable[[], str] = _nothing
    """What decides about tool calls, as text that a hook of the agent compares."""
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)

    @property
    def listen(self) -> bool:
        """Whether any handler is called for tool calls: without one, an agent needs no bridge."""
        return any(self.chains[event].steps for event in (PRE_ABILITY_CALL, POST_ABILITY_CALL) if self.chains)

    def lost(self, agent: Agent, sandbox: str) -> list[LostGuard]:
        """The guards that this agent cannot honour."""
        return lost_guards(self.chains, agent, sandbox) if self.chains else []

    def refusal(self, agent: Agent, sandbox: str) -> str:
        """Why this agent may not start: a guard would not hold, and nobody accepted that; "" if it may."""
        settings = self.agents.get(agent.name)
        if settings is not None and settings.unguarded == ACCEPT:
            return ""
        return "; ".join(str(guard) for guard in self.lost(agent, sandbox))


NO_TOOL_HOOKS = ToolHooks()
