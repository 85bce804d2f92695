"""Pausing, resuming and stopping the run from anywhere: three commands."""

from __future__ import annotations

from samuel.cli.command_context import CommandContext, command
from samuel.setup import steering


@command()
def pause(here: CommandContext) -> int:
    """Let no attempt begin until `samuel run resume`.

    Attempts under way finish, and their work lands. The run waits, and a run that was killed stays paused.

    \b
        samuel run pause
    """
    pause = steering.pause(here.root)
    data = {"paused": True, "who": pause.who, "at": pause.at}
    return here.out.answer(data, f"paused by {pause.who}; {steering.RESUME}")


@command()
def resume(here: CommandContext) -> int:
    """Let attempts begin again after `samuel run pause`.

    A run that waits goes on by itself; without one, `samuel run start` starts it.

    \b
        samuel run resume
    """
    ended = steering.resume(here.root)
    line = "not paused any more" if ended else "the run was not paused"
    return here.out.answer({"paused": False, "was_paused": ended is not None}, line)


@command()
def stop(here: CommandContext) -> int:
    """Let the run end when the attempts under way have ended.

    It is what the first Ctrl-C does in its terminal. The next `samuel run start` goes on with the tasks.

    \b
        samuel run stop
    """
    run_id = steering.stop(here.root)
    return here.out.answer({"run_id": run_id}, f"run {run_id} ends when the attempts under way have ended")
