"""The hooks that judge the tool calls of agents: whether there are any, and whether an agent honours them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from samuel.bridges.guards import LostGuard, lost_guards
from samuel.clients.adapter.agent import Agent
from samuel.clients.table import AGENTS
from samuel.config.model import AgentSettings, Config
from samuel.events.names import INSIDE_AGENT, POST_ABILITY_CALL, PRE_ABILITY_CALL
from samuel.hooks.handler import Origin
from samuel.hooks.order import Chain

ACCEPT, ACCEPT_ALL = "accept", "accept all"


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
        """Whether a handler is called for what happens inside an agent: without one, it needs no bridge.

        One of the program that started the run is not: the hooks of an agent cannot reach it.
        """
        return any(map(self._has_handler, INSIDE_AGENT))

    @property
    def judge_calls(self) -> bool:
        """Whether a handler is called for tool calls."""
        return self._has_handler(PRE_ABILITY_CALL) or self._has_handler(POST_ABILITY_CALL)

    @property
    def events(self) -> tuple[str, ...]:
        """The events that the bridge of an agent is for.

        Without a handler, an event would only cost a process each time: a handler that is added while the run
        goes on is refused. The one before a tool call is recorded, and the records are counted.
        """
        return tuple(event for event in INSIDE_AGENT if event == PRE_ABILITY_CALL or self._has_handler(event))

    def _has_handler(self, event: str) -> bool:
        steps = self.chains[event].steps if self.chains else ()
        return any(step.handler.origin is not Origin.EMBEDDER for step in steps)

    def lost(self, agent: Agent, sandbox: str) -> list[LostGuard]:
        """The guards that this agent cannot honour."""
        return lost_guards(self.chains, agent, sandbox) if self.chains else []

    def refusal(self, agent: Agent, sandbox: str) -> str:
        """Why this agent may not start: a guard would not hold, and that was not accepted; "" if it may."""
        settings = self.agents.get(agent.name)
        accepted = settings.unguarded if settings is not None else ""
        if accepted == ACCEPT_ALL:
            return ""
        guards = [guard for guard in self.lost(agent, sandbox) if guard.is_own or accepted != ACCEPT]
        return "; ".join(str(guard) for guard in guards)


NO_TOOL_HOOKS = ToolHooks()


def accepting_unguarded(config: Config) -> Config:
    """The configuration in which it is accepted for all agents that they cannot honour a guard."""
    all_settings = {**{name: AgentSettings(name) for name in AGENTS}, **config.agents}
    agents = {name: replace(settings, unguarded=ACCEPT_ALL) for name, settings in all_settings.items()}
    return replace(config, agents=agents)
