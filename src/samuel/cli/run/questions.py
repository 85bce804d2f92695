from __future__ import annotations

from typing import Any

import click

from samuel.base.printable import shell_word
from samuel.base.wording import line
from samuel.cli.command_context import CommandContext, command
from samuel.setup.run_state import state_directory, task_store
from samuel.tasks.answering import answer_command, is_about_landing
from samuel.tasks.question import Question
from samuel.tasks.task import Task, natural


@command()
@click.option("--all", "with_answered", is_flag=True, help="Also those that are answered, with their answers.")
def questions(here: CommandContext, with_answered: bool) -> int:
    """List the questions of agents that wait for an answer.

    \b
        samuel run questions
    """
    listed = [
        (task, question)
        for task in task_store(state_directory(here.root)).load()
        for question in task.questions
        if question.open or with_answered
    ]
    listed.sort(key=lambda pair: natural(pair[1].id))
    blocks = [_block(task, question) for task, question in listed]
    return here.out.answer([_data(*pair) for pair in listed], *(blocks or ["no questions"]))


def _block(task: Task, question: Question) -> str:
    lines = [f"{question.id}  task {task.id} {task.title}"]
    lines += [f"    {text}" for text in question.text.splitlines()]
    lines += [f"      {number}. {line(option)}" for number, option in enumerate(question.options, start=1)]
    if question.open:
        lines.append(f"    answer it with: {answer_command(task.id, question)}{_other_answers(question)}")
    else:
        lines.append(f"    answer: {line(question.answer)}")
    return "\n".join(lines)


def _other_answers(question: Question) -> str:
    if is_about_landing(question):
        again = f"samuel run answer {shell_word(question.id)} TEXT"
        return f" (no agent is paid), or `{again}` to let an agent work on it again"
    return ", or the number of an option" if question.options else ""


def _data(task: Task, question: Question) -> dict[str, Any]:
    command = answer_command(task.id, question) if question.open else ""
    return {**question.plain(), "task": task.id, "title": task.title, "command": command}
