"""Guards that an agent cannot honour: refused before an agent is paid, unless that was accepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samuel.agents.find_agent import find
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.bridges.guards import LostGuard, no_bridge
from samuel.clients.adapter.stream import PlainStream

ACCEPT_UNGUARDED = "Start even if an agent cannot honour a guard; the report names both."


def refuse_unguarded(place: Workplace, agents: Sequence[str], tell: Callable[[str], None]) -> None:
    """Raise SamuelError if a guard would not hold for one of these agents; say so if that was accepted."""
    kind = place.settings.sandbox.kind
    for name in agents:
        agent = find(name, place.agents)
        if why := place.tool_hooks.refusal(agent, kind):
            raise SamuelError(why, _hint(name, place.tool_hooks.lost(agent, kind)))
        for guard in place.tool_hooks.lost(agent, kind):
            tell(f"note: not guarded, which was accepted: {guard}")
        if place.settings.coverage != "required" or place.is_stand_in(name):
            continue
        lack = no_bridge(agent, kind)
        if not lack and agent.stream is PlainStream:
            lack = "its output does not report tool calls; `stream` names the agent whose output format it has"
        if lack:
            raise SamuelError(
                f'the agent `{name}` cannot meet `coverage = "required"`: {lack}',
                "use another agent, or remove `coverage` from samuel.toml",
            )


def _hint(agent: str, guards: Sequence[LostGuard]) -> str:
    by_option = "`--accept-unguarded` starts the run all the same"
    if any(guard.is_own for guard in guards):  # a samuel.toml cannot give these up
        return by_option
    return f'{by_option}, and so does `unguarded = "accept"` below [agents.{agent}]'
