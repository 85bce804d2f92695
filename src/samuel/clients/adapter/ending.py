"""How an agent process ended, as far as its own reports and its exit tell: whose fault a failure was."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class EndingKind(StrEnum):
    OK = "ok"
    LIMITED = "limited"  # its usage limit is reached
    UNAUTHORISED = "unauthorised"  # not logged in, or the key is wrong
    OVERLOADED = "overloaded"  # the service is busy
    UNREACHABLE = "unreachable"  # no network, or no service
    CRASHED = "crashed"  # any other failure
    TIMED_OUT = "timed_out"  # ended at agent_timeout
    IDLE = "idle"  # ended at idle_timeout
    OVER_BUDGET = "over_budget"  # ended because a budget was used up
    RESTARTED = "restarted"  # ended by a person who said something to it: it starts again


class AgentEnding(msgspec.Struct, frozen=True):
    kind: EndingKind = EndingKind.OK
    reason: str = ""
    """What the agent or its service said, in one line."""
    resets_at: float | None = None
    """When a usage limit ends, in seconds since the epoch, if it is known."""


ENDED_WELL = AgentEnding()
