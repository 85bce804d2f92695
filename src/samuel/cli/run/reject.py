from __future__ import annotations

import click
import msgspec

from samuel.cli.command_context import CommandContext, command
from samuel.setup import steering


@command()
@click.argument("id")
@click.argument("why")
def reject(here: CommandContext, id: str, why: str) -> int:
    """Send a completed task back: its commit is reverted, and its next attempt reads why.

    The revert is one commit, on the branch that has the work. A run that is under way makes it between attempts.
    Where it conflicts with what came later, nothing is reverted and the exit code is 1; the task is pending all
    the same.

    \b
        samuel run reject 1.2 "prices must not be floats"
    """
    rejected = steering.reject(here.root, id, why)
    taken = rejected.taken
    data = {
        **msgspec.to_builtins(rejected.rejection),
        "revert": taken.commit,
        "conflicts": list(taken.conflicts),
        "carried_out_by": rejected.by_run,
    }
    ok = not taken.conflicts
    error = "" if ok else rejected.words
    words = [rejected.words] if ok else []
    return here.out.answer(data, *words, ok=ok, warnings=taken.problems, error=error)
