"""Claims and questions about a task in the answer of a handler of agent.invoke, or by its clean exit.

A plugin that is the agent may be confined, and then it cannot reach the task file with `samuel run done`. Its
answer has the same rights as that command: it may change its own task only, and a claim counts when the checks
pass. A `question` parks the task like `samuel run ask`.

An agent that cannot run a shell claims by its exit: it ended well, it left changed files, and it did not report
anything else about its task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.turn.agent_ending import ending_of
from samuel.base.errors import SamuelError
from samuel.checks.attempt_judge import Claim
from samuel.clients.adapter.ending import EndingKind
from samuel.config.model import Methodology
from samuel.evidence.claim import Proof
from samuel.evidence.task_kind import task_kind
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


def claim_of(task: Task | None, settings: Methodology, accepting: str) -> Claim | None:
    """What is asked of the claim of a task; None if its agent did not claim it.

    `accepting` is the person who accepted that old tests fail.
    """
    if task is None or not task.claimed or task.status != "in_progress":
        return None
    policies: dict[str, Proof] = {"none": "off", "require": "require", "ask": "ask", "off": "off"}
    proof, kind = policies[task.proof or settings.proof], task_kind(task.kind, task.title) or ""
    is_last = task.attempts + 1 >= settings.max_task_attempts
    return Claim(proof, kind, task.sent_back, accepting, is_last)


def claim_by_exit(
    answer: Mapping[str, Any],
    tasks: PatientTasks,
    run_names: Mapping[str, str],
    changed: Callable[[], Sequence[str]],
    now: float,
) -> dict[str, Any]:
    """The answer with the claim that its clean exit is; unchanged if it is none.

    `changed` gives the files that the agent changed, without those that it keeps for itself.
    """
    task_id = run_names["SAMUEL_TASK_ID"]
    if not (answer.get("claims_by_exit") and task_id) or any(answer.get(name) for name in CLAIMS):
        return dict(answer)
    # Whether it changed a file matters to prose about a failure only, and a failure is no claim anyway.
    if answer["exit_code"] != 0 or ending_of(answer, changed=True, now=now).kind is not EndingKind.OK:
        return dict(answer)
    task = next((task for task in tasks.load() if task.id == task_id), None)
    if task is None or task.claimed or task.status != "in_progress" or not changed():
        return dict(answer)
    return {**answer, "claimed": True}


def without_own_files(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The paths without those at the root that an agent keeps for itself."""
    return [path for path in paths if not any(fnmatchcase(path.partition("/")[0], each) for each in patterns)]
