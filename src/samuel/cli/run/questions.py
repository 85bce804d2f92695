from __future__ import annotations

from typing import Any

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run import state_directory, task_store
from samuel.tasks.question import Question
from samuel.tasks.task import Task, natural


@click.command()
@click.option("--all", "with_answered", is_flag=True, help="Also those that are answered, with their answers.")
@json_option
@click.pass_obj
def questions(here: CommandContext, with_answered: bool) -> int:
    """List the questions of agents that wait for an answer.

    \b
        samuel run questions
    """
    listed = [
        (task, question)
        for task in task_store(state_directory(here)).load()
        for question in task.questions
        if question.open or with_answered
    ]
    listed.sort(key=lambda pair: natural(pair[1].id))
    blocks = [_block(task, question) for task, question in listed]
    return here.out.answer([_data(*pair) for pair in listed], *(blocks or ["no questions"]))


def answer_command(question: Question) -> str:
    """The command line that answers the question."""
    return f"samuel run answer {question.id} TEXT"


def _block(task: Task, question: Question) -> str:
    lines = [f"{question.id}  task {task.id} {task.title}"]
    lines += [f"    {line}" for line in question.text.splitlines()]
    lines += [f"      {number}. {option}" for number, option in enumerate(question.options, start=1)]
    if question.open:
        number = ", or the number of an option" if question.options else ""
        lines.append(f"    answer it with: {answer_command(question)}{number}")
    else:
        lines.append(f"    answer: {question.answer}")
    return "\n".join(lines)


def _data(task: Task, question: Question) -> dict[str, Any]:
    command = answer_command(question) if question.open else ""
    return {**question.plain(), "task": task.id, "title": task.title, "command": command}
