"""What `State` of the PromptContext says about the task at hand, at every event of its iteration."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from samuel.attempt.workplace import Workplace
from samuel.history.run import Run, Settlement
from samuel.history.steering import Guidance
from samuel.prompts.background import parts
from samuel.prompts.prompt_context import StateNames
from samuel.prompts.toon_tables import one_line
from samuel.tasks.task import Task

LONGEST_REASON = 300  # characters of the last failure's first line


def state_of_task(place: Workplace, run: Run, task: Task | None) -> StateNames:
    """The names of an iteration with this task; None for a discovery. The context events add their texts."""
    about = parts(place.state, place.prd_prompt_bytes)
    is_restart = task is not None and run.is_restart_of(task.id)
    return StateNames(
        Background=about.text,
        Documents=about.documents,
        TaskId=task.id if task else "",
        Attempt=task.attempts + 1 if task else 0,
        LastFailure=failure_line(task),
        Guidance=guidance_names(run.guidance),
        Continues=is_restart or (place.settings.retry == "continue" and not (task and task.is_refused)),
        Restarted=is_restart,
        NeedsChange=task is None or not task.no_change,
        ClaimsByExit=place.claims_by_exit(run.agent),
    )


def state_of_settled(place: Workplace, run: Run, task: Task | None, settlement: Settlement) -> StateNames:
    """The names of an iteration that is settled: those it was worked on with, also after a kill and from a lane.

    `task` is the task as it is now, with the failure of this attempt and not of the one before.
    """
    attempt = settlement.attempt if task else 0
    guidance = guidance_names(settlement.record.guidance if settlement.record else ())
    names = state_of_task(place, run, task)
    return replace(names, Attempt=attempt, LastFailure=settlement.last_failure, Guidance=guidance)


def guidance_names(guidance: Iterable[Guidance]) -> list[dict[str, str]]:
    """What people said, as the prompt's template gets it."""
    return [{"Who": entry.who, "At": entry.at, "Text": entry.text} for entry in guidance]


def failure_line(task: Task | None) -> str:
    """Why the last attempt at the task failed, in one line; "" if there was none."""
    return one_line(task.last_failure.partition("\n")[0], LONGEST_REASON) if task else ""
