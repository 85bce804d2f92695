"""What a person decides about the tasks of a run: for commands, and for views with buttons."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.base.login_name import login_name
from samuel.process.live import is_live
from samuel.setup.run_state import change_tasks, run_file, state_directory, task_store
from samuel.tasks.changes import find_question
from samuel.tasks.question import ACCEPT, LAND, REFUSE, Question, is_about_landing, is_dispute
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks, find

_HINT = "`samuel run status` lists what waits for you"


class AnsweredQuestion(NamedTuple):
    """A question with its answer, and its task as it is now."""

    task: Task
    question: Question


def answer_question(root: Path, id: str, text: str, methodology: str = "") -> AnsweredQuestion:
    """Answer the question of an agent; `id` is the question's, or that of a task with one open question."""
    at = iso(SystemClock().now())
    ids: list[str] = []

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        changed = who.answer(tasks, id, text=text, at=at)
        ids.append(find_question(tasks, id)[1].id)
        return changed

    return AnsweredQuestion(*find_question(change_tasks(root, change, methodology), ids[0] if ids else id))


def skip_task(root: Path, id: str, reason: str, methodology: str = "") -> Task:
    """Skip a task, with a reason."""
    return find(change_tasks(root, lambda who, tasks: who.skip(tasks, id, reason=reason), methodology), id)


def let_land(root: Path, id: str, methodology: str = "") -> str:
    """Let the work on a task land that was held back. The run in progress that lands it; "" without one."""
    question = _open_question(root, id, methodology, landing=True)
    answer_question(root, question.id, LAND, methodology)
    return live_run(root, methodology)


def accept_work(root: Path, id: str, methodology: str = "") -> str:
    """Accept the work on a disputed task. The run in progress that completes it; "" without one."""
    question = _open_question(root, id, methodology, landing=False)
    answer_question(root, question.id, f"{ACCEPT} {login_name()}", methodology)
    return live_run(root, methodology)


def refuse_work(root: Path, id: str, why: str, methodology: str = "") -> Task:
    """Refuse the work on a disputed task, with the reason for its next attempt."""
    question = _open_question(root, id, methodology, landing=False)
    return answer_question(root, question.id, f"{REFUSE} {login_name()}: {why}", methodology).task


def live_run(root: Path, methodology: str = "") -> str:
    """The id of the run of this project that is in progress; "" if none is."""
    run = run_file(state_directory(root, methodology)).load()
    return run.run_id if run is not None and is_live(paths.User.from_environment().live, run.run_id) else ""


def _open_question(root: Path, id: str, methodology: str, *, landing: bool) -> Question:
    """The open question about a landing or a dispute of a task. Raises SamuelError if there is none."""
    task = find(task_store(state_directory(root, methodology)).load(), id)
    is_meant = is_about_landing if landing else is_dispute
    question = next((question for question in task.open_questions if is_meant(question)), None)
    if question is None:
        what = f"no work on task `{id}` waits for a landing" if landing else f"task `{id}` is not disputed"
        raise SamuelError(what, _HINT)
    return question
