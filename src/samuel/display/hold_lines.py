"""What `run status` and `run show` say about agents and machines that cannot work now: who, until when and why."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.wording import clock_time, elapsed, line
from samuel.history.availability import AgentWait, choose
from samuel.history.holds import Hold, holds_of
from samuel.history.run import Run


def hold_data(run: Run, now: float) -> dict[str, Any]:
    """For `--json`: by agent, until when (in seconds since the epoch) and why it is not tried; machines, too."""
    by_agent = {agent: {"until": wait.until, "why": wait.why} for agent, wait in _waits(run).items()}
    return {"hold": by_agent, "holds": msgspec.to_builtins(holds_of(run, now))}


def hold_lines(run: Run, now: float) -> list[str]:
    """A line for each agent and machine that is held back, with the end of its wait."""
    return [f"held        {hold_words(hold, now)}" for hold in holds_of(run, now)]


def hold_words(hold: Hold, now: float) -> str:
    """`claude until 14:05, 0:20 left: Claude AI usage limit reached`."""
    end = f"until {clock_time(hold.until, now)}, {elapsed(hold.until - now)} left"
    return f"{line(hold.name, 60)} {end}: {line(hold.why, 100)}"


def waits_for(run: Run, now: float) -> str:
    """The agent that the whole run waits for; "" if one is at work or can start."""
    choice = choose(run.agents, _waits(run), now, float("inf")) if run.agents and not run.working else None
    return choice.agent if choice and choice.until else ""


def _waits(run: Run) -> dict[str, AgentWait]:
    return {} if run.over else run.waits
