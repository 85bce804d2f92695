from __future__ import annotations

import click

from samuel.base.clock import SystemClock, iso
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run.accept import dispute_of, login_name
from samuel.setup.run_state import change_tasks, state_directory, task_store
from samuel.tasks.answering import REFUSE
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks, find


@click.command()
@click.argument("id")
@click.argument("why")
@json_option
@click.pass_obj
def refuse(here: CommandContext, id: str, why: str) -> int:
    """Refuse the work on a disputed task, with the reason for its next attempt.

    \b
        samuel run refuse 1.2 "the old test is right: prices have two digits"
    """
    question = dispute_of(find(task_store(state_directory(here.root)).load(), id))
    at = iso(SystemClock().now())

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        return who.answer(tasks, question.id, text=f"{REFUSE} {login_name()}: {why}", at=at)

    task = find(change_tasks(here.root, change), id)
    return here.out.answer(task.plain(), f"task `{id}` is pending; its next attempt reads why")
