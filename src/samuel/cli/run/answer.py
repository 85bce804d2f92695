from __future__ import annotations

import click

from samuel.base.clock import SystemClock, iso
from samuel.base.wording import line
from samuel.cli.command_context import CommandContext, command
from samuel.setup.run_state import change_tasks
from samuel.tasks.changes import find_question
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks


@command()
@click.argument("id")
@click.argument("text")
def answer(here: CommandContext, id: str, text: str) -> int:
    """Answer the question of an agent.

    ID is the question's, or that of its task if it has one open question. TEXT is any text; the number of an
    option stands for that option. With its last question answered, the task is pending again.

    \b
        samuel run answer q1 "use sqlite"
    """
    at = iso(SystemClock().now())
    ids: list[str] = []

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        changed = who.answer(tasks, id, text=text, at=at)
        ids.append(find_question(tasks, id)[1].id)
        return changed

    task, question = find_question(change_tasks(here.root, change), ids[0] if ids else id)
    left = len(task.open_questions)
    status = f"task `{task.id}` is {task.status}" if task.status != "waiting" else f"{left} more to answer"
    data = {"task": task.id, "status": task.status, "question": question.plain()}
    return here.out.answer(data, f"`{question.id}` is answered: {line(question.answer)}; {status}")
