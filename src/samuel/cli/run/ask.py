from __future__ import annotations

import click

from samuel.base.clock import SystemClock, iso
from samuel.cli.command_context import CommandContext, command
from samuel.setup.run_state import change_tasks
from samuel.tasks.changes import same_question
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks, find


@command()
@click.argument("question")
@click.option("--option", "options", metavar="TEXT", multiple=True, help="A possible answer; repeatable.")
def ask(here: CommandContext, question: str, options: tuple[str, ...]) -> int:
    """Ask a person about the current task; for the agent of a run.

    The task waits for the answer while the run goes on with other tasks. The answer is in the prompt of the next
    agent that works on the task. A question that was answered before is not asked again: its answer is printed.

    \b
        samuel run ask "Which database?" --option sqlite --option postgres
    """
    at = iso(SystemClock().now())
    ids: list[str] = []

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        ids.append(who.task_id)
        return who.ask(tasks, question, options=options, at=at)

    tasks = change_tasks(here.root, change)
    task = find(tasks, ids[0])
    asked_question = same_question(task, question, options)
    assert asked_question is not None
    data = {"task": task.id, "status": task.status, "question": asked_question.plain()}
    if not asked_question.open:
        result = f"question `{asked_question.id}` is answered: {asked_question.answer}"
    else:
        result = (
            f"task `{task.id}` waits for the answer to `{asked_question.id}`; end this turn now: "
            "the answer will be in the next prompt"
        )
    return here.out.answer(data, result)
