"""`samuel run`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "init": CommandEntry("Create the task list from what you have written down."),
    "sync": CommandEntry("Merge later edits of the file that the tasks came from."),
    "start": CommandEntry("Work on the tasks until they are done."),
    "pilot": CommandEntry("Work on the tasks, and let the agent look for more."),
    "status": CommandEntry("Count the tasks by status; show the last run, and what waits for you."),
    "watch": CommandEntry("Watch a run in the terminal, and steer it."),
    "history": CommandEntry("List the runs, the newest first."),
    "show": CommandEntry("Show a run or a task: its attempts, why they failed, what they cost."),
    "log": CommandEntry("Print what an agent wrote."),
    "report": CommandEntry("Report what a run did: what is proven, what waits for you, and why attempts failed."),
    "receipt": CommandEntry("Print the receipt of a task, or the receipts of a run."),
    "lanes": CommandEntry("List the work trees of `run start --parallel`, or remove them."),
    "land": CommandEntry("Let the work on a task land that a handler of `before:land` held back."),
    "accept": CommandEntry("Accept the work on a disputed task, with the old tests that it changed."),
    "refuse": CommandEntry("Refuse the work on a disputed task, with the reason for its next attempt.", "accept"),
    "finish": CommandEntry("Merge, propose or discard the branch of the last run."),
    "say": CommandEntry("Say something to the next attempt, or to all attempts at a task."),
    "pause": CommandEntry("Let no attempt begin until `samuel run resume`."),
    "resume": CommandEntry("Let attempts begin again after `samuel run pause`.", "pause"),
    "stop": CommandEntry("Let the run end when the attempts under way have ended.", "pause"),
    "reject": CommandEntry("Send a completed task back: its commit is reverted, and its next attempt reads why."),
    "retry": CommandEntry("Make a task pending again, if you like for another agent."),
    "tasks": CommandEntry("List the tasks."),
    "done": CommandEntry("Mark a task as done."),
    "skip": CommandEntry("Skip a task, with a reason.", "put_aside"),
    "block": CommandEntry("Block a task that cannot be done now, with a reason.", "put_aside"),
    "reset": CommandEntry("Make tasks pending again and forget their attempts."),
    "restore": CommandEntry("Put the changes of a failed attempt back into the work tree."),
    "ask": CommandEntry("Ask a person about the current task; for the agent of a run.", "questions"),
    "dispute": CommandEntry(
        "Say that an acceptance test of the current task is wrong; for the agent of a run.", "questions"
    ),
    "questions": CommandEntry("List the questions of agents that wait for an answer."),
    "answer": CommandEntry("Answer the question of an agent.", "questions"),
    "enqueue": CommandEntry("Add a task, or all tasks of a file."),
    "convert": CommandEntry(
        "Show the tasks that `run init` would read from a file, a directory or standard input."
    ),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def run() -> None:
    """Run an agent in a loop on the tasks of a PRD.

    \b
        samuel run tasks --status pending
    """
