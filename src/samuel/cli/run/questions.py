"""`samuel run ask`, `dispute`, `questions` and `answer`: what agents ask people."""

from __future__ import annotations

from typing import Any

import click

from samuel.base.clock import SystemClock, iso
from samuel.base.printable import shell_word
from samuel.base.wording import line
from samuel.cli.command_context import CommandContext, command
from samuel.setup.decisions import answer_question
from samuel.setup.run_state import change_tasks, state_directory, task_store
from samuel.tasks.changes import same_question
from samuel.tasks.question import DROP_TESTS, KEEP_TESTS, Question, answer_command, is_about_landing
from samuel.tasks.rights import Asker, disputed_text
from samuel.tasks.task import Task, Tasks, find, natural


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

    return _answer_about(here, find(change_tasks(here.root, change), ids[0]), question, options)


def _answer_about(here: CommandContext, task: Task, question: str, options: tuple[str, ...]) -> int:
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


@command()
@click.argument("why")
def dispute(here: CommandContext, why: str) -> int:
    """Say that an acceptance test of the current task is wrong; for the agent of a run.

    The task waits for a person, who keeps the tests or drops them. A claim in the same turn does not count.

    \b
        samuel run dispute "test_total expects 2 for an empty cart, the task says 0"
    """
    at = iso(SystemClock().now())
    ids: list[str] = []

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        ids.append(who.task_id)
        return who.dispute(tasks, why, at=at)

    return _answer_about(
        here, find(change_tasks(here.root, change), ids[0]), disputed_text(why), (KEEP_TESTS, DROP_TESTS)
    )


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
    task, question = answer_question(here.root, id, text)
    left = len(task.open_questions)
    status = f"task `{task.id}` is {task.status}" if task.status != "waiting" else f"{left} more to answer"
    data = {"task": task.id, "status": task.status, "question": question.plain()}
    return here.out.answer(data, f"`{question.id}` is answered: {line(question.answer)}; {status}")


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
