"""The hooks of one iteration as a dry run: no agent starts, nothing changes, nothing is counted."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samuel.attempt.acceptance.due import is_due
from samuel.attempt.iteration import Iteration
from samuel.attempt.run_files import RunFiles
from samuel.attempt.steps import NO_TASK, Steps
from samuel.attempt.stop import IterationEnded, RunStopped
from samuel.attempt.workplace import Workplace
from samuel.events import AfterLoop, BeforeLoop
from samuel.events.endings import ExitReason
from samuel.history.run import Run
from samuel.run.picking import pick


def dry_run(place: Workplace, steps: Steps, files: RunFiles, run: Run) -> dict[str, Any]:
    """Fire the hooks of the first iteration of a run; the prompt that its agent would get, and what stopped it."""
    data: dict[str, Any] = {"task": "", "mode": run.mode, "agent": run.agent, "prompt": "", "stopped": ""}
    data["exit_reason"] = ""  # why a run would end, if it would not get as far as its first agent
    try:
        steps.fire(run, BeforeLoop(prd_path=str(place.prd), max_iterations=1))
        task = pick(files.tasks.load(), run)
        data["task"] = task.id if task else ""
        if task is not None and is_due(place, task, files.acceptance):
            run = replace(run, mode="acceptance")
        data |= Iteration(place, steps, files, run, task, lambda run: run).dry_run()
    except IterationEnded as ended:
        data["stopped"] = f"{ended.outcome}: {ended.why}"
        data["exit_reason"] = ended.exit_reason if isinstance(ended, RunStopped) else ""
    steps.state = NO_TASK
    steps.notify(run, AfterLoop(iterations_run=0, exit_reason=ExitReason.MAX_ITERATIONS))
    return data
