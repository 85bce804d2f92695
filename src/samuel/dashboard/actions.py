"""What a button does: the use case of the command that has its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from samuel.base.errors import SamuelError, UsageError
from samuel.base.wording import line
from samuel.dashboard.projects import RunProject
from samuel.setup import decisions, steering

Form = Mapping[str, str]


class Action(NamedTuple):
    """A command, and what its form must have."""

    do: Callable[[RunProject, Form], str]
    """Carries it out; what came of it, in words. Raises SamuelError."""
    needs: tuple[str, ...] = ()


def carry_out(project: RunProject, name: str, form: Form) -> str:
    """Carry out what a button asks for; what came of it, in words. Raises SamuelError."""
    action = ACTIONS[name]
    for field in action.needs:
        if not form.get(field, "").strip():
            raise UsageError(f"`{field}` is missing", "fill it in")
    return action.do(project, form)


def _answer(project: RunProject, form: Form) -> str:
    text = form.get("text", "").strip() or form.get("option", "")
    if not text:
        raise UsageError("the answer is empty", "choose an option, or write an answer")
    task, question = decisions.answer_question(project.root, form["id"], text, project.methodology)
    left = len(task.open_questions)
    rest = f"task `{task.id}` is {task.status}" if task.status != "waiting" else f"{left} more to answer"
    return f"`{question.id}` is answered: {line(question.answer)}; {rest}"


def _land(project: RunProject, form: Form) -> str:
    run = decisions.let_land(project.root, form["id"], project.methodology)
    return f"run {run} lands task `{form['id']}`" if run else _later(form["id"], "lands")


def _accept(project: RunProject, form: Form) -> str:
    run = decisions.accept_work(project.root, form["id"], project.methodology)
    return f"run {run} completes task `{form['id']}`" if run else _later(form["id"], "completes")


def _later(id: str, verb: str) -> str:
    return f"noted; no run is in progress: the next `samuel run start` {verb} task `{id}`"


def _refuse(project: RunProject, form: Form) -> str:
    task = decisions.refuse_work(project.root, form["id"], form["why"], project.methodology)
    return f"task `{task.id}` is {task.status}; its next attempt reads why"


def _skip(project: RunProject, form: Form) -> str:
    task = decisions.skip_task(project.root, form["id"], form["reason"], project.methodology)
    return f"task `{task.id}` is skipped: {line(task.last_failure)}"


def _retry(project: RunProject, form: Form) -> str:
    task = steering.retry(
        project.root, form["id"], agent=form.get("agent", "").strip(), methodology=project.methodology
    )
    return f"task `{task.id}` is {task.status}"


def _reject(project: RunProject, form: Form) -> str:
    outcome = steering.reject(project.root, form["id"], form["why"], methodology=project.methodology)
    if outcome.taken.conflicts:
        raise SamuelError(outcome.words)
    return outcome.words


def _say(project: RunProject, form: Form) -> str:
    task = form.get("id", "")
    now = form.get("now", "") == "yes"
    steering.say(project.root, form["text"], task=task, now=now, methodology=project.methodology)
    return f"said to task `{task}`" if task else "said to the next attempt"


def _pause(project: RunProject, form: Form) -> str:
    steering.pause(project.root, methodology=project.methodology)
    return "paused: attempts under way finish and land, and none begins"


def _resume(project: RunProject, form: Form) -> str:
    ended = steering.resume(project.root, methodology=project.methodology)
    return "resumed" if ended else "it was not paused"


def _stop(project: RunProject, form: Form) -> str:
    run = steering.stop(project.root, methodology=project.methodology)
    return f"run {run} ends when the attempts under way have ended"


ACTIONS: Mapping[str, Action] = {
    "answer": Action(_answer, ("id",)),
    "land": Action(_land, ("id",)),
    "accept": Action(_accept, ("id",)),
    "refuse": Action(_refuse, ("id", "why")),
    "skip": Action(_skip, ("id", "reason")),
    "retry": Action(_retry, ("id",)),
    "reject": Action(_reject, ("id", "why")),
    "say": Action(_say, ("text",)),
    "pause": Action(_pause),
    "resume": Action(_resume),
    "stop": Action(_stop),
}
