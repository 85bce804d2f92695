"""A person decides about a disputed task: two commands."""

from __future__ import annotations

import click

from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.base.login_name import login_name
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.start import RunOptions, run_loop
from samuel.process.live import is_live
from samuel.setup.readiness import RunRequest
from samuel.setup.run_state import change_tasks, run_file, state_directory, task_store
from samuel.tasks.question import ACCEPT, REFUSE, Question, is_dispute
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks, find


@command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
def accept(here: CommandContext, id: str, yes: bool) -> int:
    """Accept the work on a disputed task, with the old tests that it changed.

    Look at it first: `samuel run show ID --diff`. Its checks run again, and no agent is paid. A run in progress
    completes it; else this command does.

    \b
        samuel run accept 1.2
    """
    question = _dispute_of(find(task_store(state_directory(here.root)).load(), id))
    at = iso(SystemClock().now())

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        return who.answer(tasks, question.id, text=f"{ACCEPT} {login_name()}", at=at)

    change_tasks(here.root, change)
    run = run_file(state_directory(here.root)).load()
    if run is not None and is_live(paths.User.from_environment().live, run.run_id):
        return here.out.answer({"task": id, "completed_by": run.run_id}, f"run {run.run_id} completes task `{id}`")
    return run_loop(here, RunRequest(), RunOptions(yes=yes, iterations=1, must_complete=id))


@command()
@click.argument("id")
@click.argument("why")
def refuse(here: CommandContext, id: str, why: str) -> int:
    """Refuse the work on a disputed task, with the reason for its next attempt.

    \b
        samuel run refuse 1.2 "the old test is right: prices have two digits"
    """
    question = _dispute_of(find(task_store(state_directory(here.root)).load(), id))
    at = iso(SystemClock().now())

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        return who.answer(tasks, question.id, text=f"{REFUSE} {login_name()}: {why}", at=at)

    task = find(change_tasks(here.root, change), id)
    return here.out.answer(task.plain(), f"task `{id}` is pending; its next attempt reads why")


def _dispute_of(task: Task) -> Question:
    """The open question whether old tests may fail with the work on the task. Raises SamuelError without one."""
    question = next((question for question in task.open_questions if is_dispute(question)), None)
    if question is None:
        raise SamuelError(f"task `{task.id}` is not disputed", "`samuel run status` lists what waits for you")
    return question
