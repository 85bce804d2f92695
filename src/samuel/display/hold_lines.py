"""What `samuel run status` says about agents that cannot work now, such as one that is at its usage limit."""

from __future__ import annotations

from typing import Any

from samuel.base.wording import clock_time, elapsed, line
from samuel.history.availability import AgentWait, choose
from samuel.history.run import Run


def hold_data(run: Run) -> dict[str, Any]:
    """For `--json`: by agent, until when (in seconds since the epoch) and why it is not tried."""
    return {"hold": {agent: {"until": wait.until, "why": wait.why} for agent, wait in _waits(run).items()}}


def hold_lines(run: Run, now: float) -> list[str]:
    """A line for each agent that is held back, with the end of its wait."""
    return [
        f"held        {agent} until {clock_time(wait.until, now)}, {elapsed(wait.until - now)} left: "
        f"{line(wait.why, 100)}"
        for agent, wait in _waits(run).items()
        if wait.until > now
    ]


def waits_for(run: Run, now: float) -> str:
    """The agent that the whole run waits for; "" if one is at work or can start."""
    choice = choose(run.agents, _waits(run), now, float("inf")) if run.agents and not run.working else None
    return choice.agent if choice and choice.until else ""


def _waits(run: Run) -> dict[str, AgentWait]:
    return {} if run.over else run.waits
