"""Claims and questions about a task in the answer of a handler of agent.invoke.

A plugin that is the agent may be confined, and then it cannot reach the task file with `samuel run done`. Its
answer has the same rights as that command: it may change its own task only, and a claim counts when the checks
pass. A `question` parks the task like `samuel run ask`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.errors import SamuelError
from samuel.loop.patient_tasks import PatientTasks
from samuel.tasks.rights import asker
from samuel.tasks.task import Task

CLAIMS = ("claimed", "skipped", "blocked", "question")


def take_claim(answer: Mapping[str, Any], tasks: PatientTasks, run_names: Mapping[str, str]) -> str:
    """Put the claim in `answer`, if there is one, into the task file. Returns why that is refused, or "".

    `run_names` are the variables of the agent, which name its task.
    """
    claims = [name for name in CLAIMS if answer.get(name)]
    if not claims:
        return ""
    if len(claims) > 1:
        both = " and ".join(f"`{name}`" for name in claims)
        return f"the answer of `agent.invoke` has {both}; only one of them can hold"
    if not (task_id := run_names["SAMUEL_TASK_ID"]):
        return f"the answer of `agent.invoke` has `{claims[0]}`, but this iteration works on no task"
    agent, reason = asker(run_names), str(answer.get("reason") or "")

    def changed(rows: tuple[Task, ...]) -> tuple[Task, ...]:
        match claims[0]:
            case "claimed":
                return agent.done(rows, task_id, at="", commit="")
            case "skipped":
                return agent.skip(rows, task_id, reason=reason)
            case "question":
                return agent.ask(rows, str(answer["question"]), options=answer.get("options") or (), at="")
        return agent.block(rows, task_id, reason=reason)

    try:
        tasks.change(changed)
    except SamuelError as error:
        return f"the answer of `agent.invoke` has `{claims[0]}`: {error.message}"
    return ""
