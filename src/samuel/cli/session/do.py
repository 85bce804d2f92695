from __future__ import annotations

import click
import msgspec

from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.session.options import chosen_or_last, id_option
from samuel.process.inside_a_run import refuse_inside_a_run
from samuel.sessions.follow_up import describe
from samuel.sessions.session import DONE, DROPPED, QUEUED, FollowUp, Session


@command()
@click.argument("numbers", nargs=-1, type=int, metavar="[NUMBER]...")
@click.option("--drop", is_flag=True, help="Drop the actions instead of carrying them out.")
@click.option("--yes", is_flag=True, help="Run commands without being asked.")
@id_option
def do(here: CommandContext, numbers: tuple[int, ...], drop: bool, yes: bool, id: str) -> int:
    """Carry out or drop the follow-up actions of hooks.

    All pending actions, or those with these numbers in `samuel session show`. You are asked before a command
    runs.

    \b
        samuel session do 2
        samuel session do --drop
    """
    refuse_inside_a_run()
    session = chosen_or_last(here, id)
    chosen = _chosen(session, numbers)
    confirm = (lambda _: True) if yes else here.confirm
    with here.open() as app:
        recorder = app.session_recorder(confirm)
        changed = recorder.drop(session, chosen) if drop else recorder.do(session, chosen)
    text = "\n".join(map(describe, changed)) or "no follow-up action is pending"
    ok = all(follow_up.state in (DONE, DROPPED) for follow_up in changed)
    return here.out.answer(
        [msgspec.to_builtins(follow_up) for follow_up in changed], text, ok=ok, warnings=app.warnings
    )


def _chosen(session: Session, numbers: tuple[int, ...]) -> list[FollowUp]:
    waiting = {follow_up.number: follow_up for follow_up in session.follow_ups if follow_up.state == QUEUED}
    for number in numbers:
        if number not in waiting:
            raise UsageError(f"no follow-up {number} waits in session `{session.id}`", "see `samuel session show`")
    return [waiting[number] for number in numbers] if numbers else list(waiting.values())
