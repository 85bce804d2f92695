"""Every change a task can go through, as functions from tasks to tasks.

    pending      --begin-->     in_progress       the loop picked it
    in_progress  --claim-->     in_progress       the agent says it is done
    in_progress  --fail-->      pending           or blocked, when it failed too often
    in_progress  --ask-->       waiting           the agent needs a person's answer; it may ask more than once
    waiting      --answer-->    pending           when the last open question is answered
    open, blocked, waiting --complete--> completed    the checks passed, or a person says so
    open, blocked, waiting --skip--> skipped      with a reason
    open, waiting --block-->    blocked           with a reason
    any          --reset-->     pending           as if it had never been tried; answers stay
    completed    --reject-->    pending           a person sends it back, with the reason

Open is pending or in_progress. Whatever ends the waiting but an answer withdraws the open questions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import count
from typing import Any

from msgspec.structs import replace

from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import listed, shell_word, shorten
from samuel.tasks.question import REJECTED, Question, new_id
from samuel.tasks.queue import OPEN
from samuel.tasks.task import PRIORITIES, Task, Tasks, find


def begin(tasks: Tasks, id: str, *, iteration: int) -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, OPEN, "begun")  # one in progress is begun again after a crash
    return _put(tasks, task, status="in_progress", iteration=iteration, claimed=False)


def claim(tasks: Tasks, id: str, *, commit: str = "") -> tuple[Task, ...]:
    """The agent's word that it is done: it may be given twice, and it counts when the checks agree."""
    task = _task_in_status(tasks, id, ("in_progress",), "claimed")
    return _put(tasks, task, claimed=True, commit_sha=commit or task.commit_sha)


def fail(tasks: Tasks, id: str, *, failure: str, max_attempts: int) -> tuple[Task, ...]:
    """An attempt that came to nothing. Its reason goes into the next attempt's prompt, or stays with the block."""
    task = _task_in_status(tasks, id, ("in_progress",), "failed")
    attempts = task.attempts + 1
    status = "blocked" if attempts >= max_attempts else "pending"
    return _put(tasks, task, status=status, attempts=attempts, claimed=False, last_failure=_text(failure))


def complete(tasks: Tasks, id: str, *, at: str, commit: str = "") -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, (*OPEN, "blocked", "waiting"), "completed")
    fields = {"completed_at": at, "commit_sha": commit or task.commit_sha, "questions": _answered(task)}
    return _put(tasks, task, status="completed", grade="done by a person", last_failure="", **fields)


def skip(tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
    return _end(tasks, id, (*OPEN, "blocked", "waiting"), "skipped", reason)


def block(tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
    return _end(tasks, id, (*OPEN, "waiting"), "blocked", reason)


def reset(tasks: Tasks, id: str) -> tuple[Task, ...]:
    fresh: dict[str, Any] = {
        "completed_at": "",
        "commit_sha": "",
        "claimed": False,
        "attempts": 0,
        "grade": "",
        "reviewed": "",
        "sent_back": (),
    }
    task = find(tasks, id)
    return _put(tasks, task, status="pending", last_failure="", questions=_answered(task), **fresh)


def reject(tasks: Tasks, id: str, *, why: str, commit: str) -> tuple[Task, ...]:
    """Send a completed task back, with the reason for its next attempt. Idempotent, by its commit."""
    task = next((task for task in tasks if task.id == id), None)
    if task is None or task.status != "completed" or task.commit_sha != commit:
        return tuple(tasks)
    task = find(fresh := reset(tasks, id), id)
    return _put(fresh, task, last_failure=_text(f"{REJECTED}{why}"))


def ask(
    tasks: Tasks, id: str, *, question: str, options: Iterable[str] = (), iteration: int = 0, at: str = ""
) -> tuple[Task, ...]:
    """Park the task with a question. One that was answered already changes nothing: its answer holds."""
    text, choices = _question(question, options)
    task = _task_in_status(tasks, id, ("in_progress", "waiting"), "parked with a question")
    same = same_question(task, text, choices)
    if same is not None and not same.open:
        return tuple(tasks)
    ids = {other.id for row in tasks for other in row.questions}
    new = Question(id=new_id(ids), text=text, options=choices, iteration=iteration, asked_at=at)
    questions = task.questions if same else (*task.questions, new)
    return _put(tasks, task, status="waiting", claimed=False, questions=questions)


def same_question(task: Task, question: str, options: Iterable[str]) -> Question | None:
    """The question of the task that asks the same, answered or not."""
    text, choices = _question(question, options)
    return next((other for other in task.questions if other.asks(text, choices)), None)


def find_question(tasks: Tasks, id: str) -> tuple[Task, Question]:
    """The question of this id, with its task; or the only open question of the task of this id."""
    for task in tasks:
        for question in task.questions:
            if question.id == id:
                return task, question
    by_id = {task.id: task for task in tasks}
    if id not in by_id:
        waiting = [task for task in tasks if task.open_questions]
        ids = [question.id for task in waiting for question in task.open_questions]
        ids += [task.id for task in waiting]
        hint = did_you_mean(id, ids, "`samuel run questions` lists the open ones")
        raise UsageError(f"there is no question `{id}`", hint)
    match by_id[id].open_questions:
        case ():
            raise UsageError(f"task `{id}` has no open question", "`samuel run questions` lists the open ones")
        case (question,):
            return by_id[id], question
        case several:
            listed = ", ".join(f"`{question.id}`" for question in several)
            raise UsageError(f"task `{id}` has {len(several)} open questions", f"name one of them: {listed}")


def answer(tasks: Tasks, id: str, *, text: str, at: str = "") -> tuple[Task, ...]:
    """Answer a question by its id, or by that of its task. With its last one answered the task is pending."""
    task, question = find_question(tasks, id)
    if not question.open:
        message = f"question `{question.id}` was answered already: {question.answer}"
        raise SamuelError(message, "`samuel run questions --all` lists the answers")
    words = question.chosen(_text(text))
    if not words:
        raise UsageError("the answer is empty", "say what the agent should do")
    if question.is_no_option(words):
        numbered = enumerate(map(shorten, question.options), start=1)
        options = ", ".join(f"{number} for `{option}`" for number, option in numbered)
        own = f"samuel run answer {shell_word(question.id)} {shell_word(f'use {words}')}"
        raise UsageError(
            f"question `{question.id}` has no option `{words}`",
            f"give {options}; an answer of your own has words: `{own}`",
        )
    answered = replace(question, answer=words, answered_at=at)
    questions = tuple(answered if other is question else other for other in task.questions)
    waits = task.status == "waiting" and any(other.open for other in questions)
    status = "pending" if task.status == "waiting" and not waits else task.status
    return _put(tasks, task, status=status, questions=questions)


def enqueue(
    tasks: Tasks,
    title: str,
    *,
    description: str = "",
    priority: str = "medium",
    complexity: str = "medium",
    depends_on: Iterable[str] = (),
    source: str = "user",
    iteration: int = 0,
) -> tuple[Task, ...]:
    """The tasks and a new one, which is the last."""
    words = " ".join(_text(title).split())
    if not words:
        raise UsageError("the task has no title", "say in a few words what is to be done")
    if priority not in PRIORITIES:
        hint = did_you_mean(priority, PRIORITIES, f"one of {', '.join(PRIORITIES)}")
        raise UsageError(f"`{priority}` is not a valid priority", hint)
    needed = tuple(dict.fromkeys(depends_on))
    for id in needed:
        find(tasks, id)
    new = Task(
        id=new_task_id(tasks),
        title=words,
        description=_text(description).strip(),
        priority=priority,
        complexity=_text(complexity),
        depends_on=needed,
        source=source,
        iteration=iteration,
    )
    return (*tasks, new)


def add_all(tasks: Tasks, new: Iterable[Task]) -> tuple[Task, ...]:
    """The tasks and more of them, with their own ids, which must be free."""
    new = tuple(new)
    ids = {task.id for task in tasks}
    if taken := [task.id for task in new if task.id in ids]:
        raise UsageError(
            f"there are tasks with these ids already: {listed([f'`{id}`' for id in taken], 5)}",
            "`samuel run sync` merges a file that was read before",
        )
    return (*tasks, *new)


def free_id(id: str, taken: Collection[str]) -> str:
    """`id`, or with a suffix where another task has it."""
    candidates = (f"{id}-{number}" for number in count(2))
    return id if id not in taken else next(candidate for candidate in candidates if candidate not in taken)


def _task_in_status(tasks: Tasks, id: str, statuses: Iterable[str], become: str) -> Task:
    task = find(tasks, id)
    if task.status in statuses:
        return task
    message = f"task `{id}` is {task.status}, so it cannot be {become}"
    if task.status == "pending":
        raise SamuelError(message, "it is not being worked on")
    if task.status == "waiting":
        raise SamuelError(message, "it waits for an answer; `samuel run questions` lists the open questions")
    raise SamuelError(message, f"`samuel run reset {shell_word(id)}` makes it pending again")


def _end(tasks: Tasks, id: str, statuses: Iterable[str], status: str, reason: str) -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, statuses, status)
    if not reason.strip():
        raise UsageError("the reason is empty", "say why, for the person who reads it later")
    ended = {"claimed": False, "last_failure": _text(reason).strip(), "questions": _answered(task)}
    return _put(tasks, task, status=status, **ended)


def _put(tasks: Tasks, task: Task, **fields: Any) -> tuple[Task, ...]:
    new = replace(task, **fields)
    return tuple(new if other is task else other for other in tasks)


def _answered(task: Task) -> tuple[Question, ...]:
    return tuple(question for question in task.questions if not question.open)


def _question(text: str, options: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    words = _text(text).strip()
    if not words:
        raise UsageError("the question is empty", "ask what a person has to decide")
    choices = tuple(" ".join(_text(option).split()) for option in options)
    if not all(choices):
        raise UsageError("an option is empty", "give each option a few words")
    return words, tuple(dict.fromkeys(choices))


def _text(text: str) -> str:
    """Text for the file: bytes that are not UTF-8 are replaced."""
    return text.encode(errors="replace").decode()


def new_task_id(tasks: Tasks) -> str:
    """The number after the highest: 13 where the last ones are 12.1 and 12.2."""
    numbers = (re.match(r"\D*([0-9]{1,15})", task.id) for task in tasks)
    highest = max((int(number[1]) for number in numbers if number), default=0)
    return str(highest + 1)
