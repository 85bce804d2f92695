from __future__ import annotations

import click

from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.start import RunOptions, run_loop
from samuel.process.live import is_live
from samuel.setup.readiness import RunRequest
from samuel.setup.run_state import change_tasks, run_file, state_directory, task_store
from samuel.tasks.question import LAND, Question, is_about_landing
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks, find


@command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
def land(here: CommandContext, id: str, yes: bool) -> int:
    """Let the work on a task land that a handler of `before:land` held back.

    It is merged and checked again, and no agent is paid. A run in progress lands it; else this command does.

    \b
        samuel run land 1.2
    """
    question = _question(find(task_store(state_directory(here.root)).load(), id))
    at = iso(SystemClock().now())

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        return who.answer(tasks, question.id, text=LAND, at=at)

    change_tasks(here.root, change)
    run = run_file(state_directory(here.root)).load()
    if run is not None and is_live(paths.User.from_environment().live, run.run_id):
        return here.out.answer({"task": id, "landed_by": run.run_id}, f"run {run.run_id} lands task `{id}`")
    return run_loop(here, RunRequest(), RunOptions(yes=yes, only_land=True))


def _question(task: Task) -> Question:
    """The question whether the work on the task may land. Raises SamuelError if there is none."""
    question = next((question for question in task.open_questions if is_about_landing(question)), None)
    if question is None:
        raise SamuelError(
            f"no work on task `{task.id}` waits for a landing", "`samuel run status` lists what waits for you"
        )
    return question
