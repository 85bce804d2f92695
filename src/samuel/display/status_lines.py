"""What `run status` and `run show` say of a run: its fields, its lanes, and who cannot work until when and why."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.wording import clock_time, elapsed, line, span
from samuel.history.availability import AgentWait, choose
from samuel.history.holds import Hold, holds_of
from samuel.history.run import AttemptUnderWay, LanesState, Run
from samuel.tasks.task import Tasks

_RUN_FIELDS = (
    *("run_id", "methodology", "agent", "exit_reason"),
    *("iterations_run", "max_iterations", "outcomes", "usage"),
)
_LANE_FIELDS = ("lane", "task", "attempt", "iteration", "agent", "started_at")


def run_fields(run: Run) -> dict[str, Any]:
    """The fields of a run in the data of `--json`."""
    return {name: getattr(run, name) for name in _RUN_FIELDS} | {"exit_reason": run.exit_reason or ""}


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


def lanes_data(run: Run, lanes: LanesState) -> dict[str, Any]:
    """For `--json`."""
    return {
        "branch": lanes.branch,
        "landed": lanes.landed,
        "lanes": [
            {
                **{name: getattr(record, name) for name in _LANE_FIELDS},
                "state": _state(lanes, record),
                **({"place": record.place} if record.place else {}),
            }
            for record in _by_lane(run)
        ],
        "landing": list(lanes.landing.tasks) if lanes.landing else [],
        "ready": sorted(lanes.ready),
    }


def lane_lines(run: Run, lanes: LanesState, tasks: Tasks, now: float) -> list[str]:
    """A line for each lane at work, and one for what is ready to land."""
    titles = {task.id: task.title for task in tasks}
    lines = [f"branch      {lanes.branch}, {lanes.landed} landed"]
    for record in _by_lane(run):
        if record.result is None:
            age = span(max(now - record.started_at, 0.0))
            title = line(titles.get(record.task, ""), 50)
            where = f" at {record.place}" if record.place else ""
            who = f"{record.agent}{where}"
            lines.append(f"lane {record.lane:<7}{record.task} {title}, attempt {record.attempt}, {age}, {who}")
    ready = [record.task for record in _by_lane(run) if record.result is not None and record.result.work]
    if ready:
        lines.append(f"landing     {', '.join(ready)}")
    return lines


def _by_lane(run: Run) -> list[AttemptUnderWay]:
    return sorted(run.active.values(), key=lambda record: (record.lane or 0, record.iteration))


def _state(lanes: LanesState, record: AttemptUnderWay) -> str:
    if record.result is None:
        return "at work"
    return "landing" if lanes.landing and record.task in lanes.landing.tasks else "ready"
