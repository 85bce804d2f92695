"""What `samuel run status` says about the lanes of a run: what each does, and what lands."""

from __future__ import annotations

from typing import Any

from samuel.history.run import AttemptUnderWay, LanesState, Run
from samuel.report.words import line, span
from samuel.tasks.task import Tasks


def lanes_data(run: Run, lanes: LanesState) -> dict[str, Any]:
    """For `--json`."""
    return {
        "branch": lanes.branch,
        "landed": lanes.landed,
        "lanes": [
            {
                "lane": record.lane,
                "task": record.task,
                "attempt": record.attempt,
                "iteration": record.iteration,
                "agent": record.agent,
                "started_at": record.started_at,
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
