from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run import change_tasks
from samuel.tasks.task import PRIORITIES


@click.command()
@click.argument("title")
@click.option("--description", metavar="TEXT", default="", help="What is to be done, at length.")
@click.option("--priority", type=click.Choice(PRIORITIES), default="medium", show_default=True)
@click.option("--complexity", metavar="WORD", default="medium", show_default=True)
@click.option("--depends-on", metavar="ID", multiple=True, help="A task that has to be done first; repeatable.")
@json_option
@click.pass_obj
def enqueue(
    here: CommandContext, title: str, description: str, priority: str, complexity: str, depends_on: tuple[str, ...]
) -> int:
    """Add a task.

    \b
        samuel run enqueue "Write the changelog" --priority low --depends-on 1.2
    """
    *_, task = change_tasks(
        here,
        lambda who, tasks: who.enqueue(
            tasks,
            title,
            description=description,
            priority=priority,
            complexity=complexity,
            depends_on=depends_on,
        ),
    )
    return here.out.answer(task.plain(), f"task `{task.id}` is pending: {task.title}")
