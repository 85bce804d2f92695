"""Which agent works next, and how long to wait for those that cannot work now: pure functions.

An agent that is limited, overloaded or unreachable says nothing about the task. It gets a time from which on it is
tried again; until then the next agent of the list takes over, or the run waits.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from samuel.clients.adapter.ending import AgentEnding, EndingKind

TROUBLE = (EndingKind.LIMITED, EndingKind.UNAUTHORISED, EndingKind.OVERLOADED, EndingKind.UNREACHABLE)
"""The endings that are not the task's fault."""

_SHORTEST, _LONGEST = 5.0, 600.0  # seconds of a back-off
_UNKNOWN_RESET, _LONGEST_UNKNOWN_RESET = 300.0, 3600.0  # of a limit whose end was not given
_MOST_JITTER = 30.0  # several loops must not all come back in the same second


class AgentWait(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that cannot work now."""

    kind: EndingKind
    why: str
    since: float  # when the trouble began
    until: float  # from when on it is tried again
    tries: int = 1  # in a row that ended in trouble


class AgentChoice(NamedTuple):
    """`agent` works next if `until` is 0, else it is the one to wait for; "" if there is no use in waiting."""

    agent: str
    until: float = 0.0
    why: str = ""


def wait_after(ending: AgentEnding, earlier: AgentWait | None, now: float, key: str) -> AgentWait:
    """When an agent that ended like this is tried again. `key` chooses the jitter: the same key, the same wait."""
    tries = earlier.tries + 1 if earlier else 1
    if ending.kind is EndingKind.LIMITED:
        doubled = min(_UNKNOWN_RESET * 2.0 ** (tries - 1), _LONGEST_UNKNOWN_RESET)
        seconds = max(ending.resets_at - now, 0.0) if ending.resets_at else doubled
    else:
        seconds = min(_SHORTEST * 2.0 ** (tries - 1), _LONGEST)
    jitter = random.Random(key).uniform(0, min(seconds / 10, _MOST_JITTER))
    return AgentWait(
        kind=ending.kind,
        why=ending.reason or ending.kind.value,
        since=earlier.since if earlier else now,
        until=now + seconds + jitter,
        tries=tries,
    )


def choose(agents: Sequence[str], waits: Mapping[str, AgentWait], now: float, max_wait: float) -> AgentChoice:
    """The first agent that can work; else the one that can work first, if that is within `max_wait`."""
    for agent in agents:
        if agent not in waits or (waits[agent].until <= now and _is_worth_a_try(waits[agent], max_wait)):
            return AgentChoice(agent)
    worth = [agent for agent in agents if _is_worth_a_try(waits[agent], max_wait)]
    if not worth:
        return AgentChoice("", why="; ".join(_why_not(agent, waits[agent]) for agent in agents))
    agent = min(worth, key=lambda agent: waits[agent].until)
    return AgentChoice(agent, waits[agent].until, waits[agent].why)


def _is_worth_a_try(wait: AgentWait, max_wait: float) -> bool:
    return wait.kind is not EndingKind.UNAUTHORISED and wait.until - wait.since <= max_wait


def _why_not(agent: str, wait: AgentWait) -> str:
    if wait.kind is EndingKind.UNAUTHORISED:
        return f"{agent} is not logged in: {wait.why}; log in, or give it its key, and start again"
    return f"{agent} stays {wait.kind} for longer than `max_wait`: {wait.why}"
