"""Which guards an agent cannot honour, before it is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from samuel.clients.adapter.agent import Agent
from samuel.clients.dialect.limits import DENY, LOST
from samuel.clients.table import CLIENTS, RUN_BRIDGES
from samuel.events.names import INSIDE_AGENT, POST_ABILITY_CALL, PRE_ABILITY_CALL
from samuel.hooks.guards import declares_guard, holds_everywhere, may_deny
from samuel.hooks.handler import Handler, HandlerMode, Origin
from samuel.hooks.order import Chain

STAND_IN = "samuel.agents.scripted"
"""The module of the agent that stands in for others: it calls no tools, so no guard is about it."""


class LostGuard(NamedTuple):
    """A guard that does not hold for an agent."""

    guard: str
    event: str
    agent: str
    why: str
    is_own: bool = False
    """True for a guard from the user's home directory, which no project can turn off."""

    def __str__(self) -> str:
        return f"the agent `{self.agent}` cannot honour the guard `{self.guard}` ({self.event}): {self.why}"


def lost_guards(chains: Mapping[str, Chain], agent: Agent, sandbox: str) -> list[LostGuard]:
    """The guards that do not hold for this agent in this kind of sandbox."""
    if STAND_IN in agent.command:
        return []
    return [
        LostGuard(handler.name, event, agent.name, why, holds_everywhere(handler, chains[event].event))
        for event, handler in _guards(chains)
        if (why := _why_lost(event, handler, agent, sandbox))
    ]


def _guards(chains: Mapping[str, Chain]) -> Iterator[tuple[str, Handler]]:
    for event in INSIDE_AGENT:
        chain = chains[event]
        for step in chain.steps:
            handler = step.handler
            # Of what few agents report, a hook that does not say that it is a guard may only observe.
            of_call = event in (PRE_ABILITY_CALL, POST_ABILITY_CALL)
            may = may_deny(chain.event, handler.role, blocking=handler.blocking)
            answers = may and (of_call or declares_guard(handler))
            if answers and step.mode is HandlerMode.ENFORCE:
                yield event, handler


def _why_lost(event: str, handler: Handler, agent: Agent, sandbox: str) -> str:
    if handler.origin is Origin.EMBEDDER:
        return "it runs in the program that started the run, which the hooks of the agent cannot reach"
    if why := no_bridge(agent, sandbox):
        return why
    client = CLIENTS[agent.hooks]
    if event not in client.events.values():
        return f"{client.title} does not report this event"
    limit = client.limits.get((event, DENY))
    return limit.why if limit is not None and limit.verdict == LOST else ""


def no_bridge(agent: Agent, sandbox: str) -> str:
    """Why the tool calls of this agent cannot be put to Samuel; "" if they can."""
    if not agent.hooks:
        return (
            "Samuel knows no hooks of this program; if it runs a client that has hooks, say so below "
            f'[agents.{agent.name}], for example `hooks = "claude"`'
        )
    if agent.hooks not in RUN_BRIDGES or agent.hooks not in CLIENTS:
        return f"Samuel has no bridge to `{agent.hooks}` for one process"
    return "in a container, the hooks of the agent cannot reach Samuel" if sandbox == "oci" else ""
