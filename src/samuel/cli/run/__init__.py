"""`samuel run`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "init": CommandEntry("samuel.cli.run.init:init", "Create the task list from what you have written down."),
    "sync": CommandEntry("samuel.cli.run.sync:sync", "Merge later edits of the file that the tasks came from."),
    "start": CommandEntry("samuel.cli.run.start:start", "Work on the tasks until they are done."),
    "pilot": CommandEntry("samuel.cli.run.pilot:pilot", "Work on the tasks, and let the agent look for more."),
    "status": CommandEntry(
        "samuel.cli.run.status:status", "Count the tasks by status; show the last run, and what waits for you."
    ),
    "history": CommandEntry("samuel.cli.run.history:history", "List the runs, the newest first."),
    "show": CommandEntry(
        "samuel.cli.run.show:show", "Show a run or a task: its attempts, why they failed, what they cost."
    ),
    "log": CommandEntry("samuel.cli.run.log:log", "Print what an agent wrote."),
    "report": CommandEntry(
        "samuel.cli.run.report:report",
        "Report what a run did: what is proven, what waits for you, and why attempts failed.",
    ),
    "lanes": CommandEntry(
        "samuel.cli.run.lanes:lanes", "List the work trees of `run start --parallel`, or remove them."
    ),
    "land": CommandEntry(
        "samuel.cli.run.land:land", "Let the work on a task land that a handler of `before:land` held back."
    ),
    "accept": CommandEntry(
        "samuel.cli.run.accept:accept", "Accept the work on a disputed task, with the old tests that it changed."
    ),
    "refuse": CommandEntry(
        "samuel.cli.run.refuse:refuse", "Refuse the work on a disputed task, with the reason for its next attempt."
    ),
    "finish": CommandEntry(
        "samuel.cli.run.finish:finish", "Merge, propose or discard the branch of the last run."
    ),
    "tasks": CommandEntry("samuel.cli.run.tasks:tasks", "List the tasks."),
    "done": CommandEntry("samuel.cli.run.done:done", "Mark a task as done."),
    "skip": CommandEntry("samuel.cli.run.skip:skip", "Skip a task, with a reason."),
    "block": CommandEntry("samuel.cli.run.block:block", "Block a task that cannot be done now, with a reason."),
    "reset": CommandEntry("samuel.cli.run.reset:reset", "Make tasks pending again and forget their attempts."),
    "restore": CommandEntry(
        "samuel.cli.run.restore:restore", "Put the changes of a failed attempt back into the work tree."
    ),
    "ask": CommandEntry("samuel.cli.run.ask:ask", "Ask a person about the current task; for the agent of a run."),
    "questions": CommandEntry(
        "samuel.cli.run.questions:questions", "List the questions of agents that wait for an answer."
    ),
    "answer": CommandEntry("samuel.cli.run.answer:answer", "Answer the question of an agent."),
    "enqueue": CommandEntry("samuel.cli.run.enqueue:enqueue", "Add a task, or all tasks of a file."),
    "convert": CommandEntry(
        "samuel.cli.run.convert:convert",
        "Show the tasks that `run init` would read from a file, a directory or standard input.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def run() -> None:
    """Run an agent in a loop on the tasks of a PRD.

    \b
        samuel run tasks --status pending
    """
