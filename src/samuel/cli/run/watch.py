from __future__ import annotations

from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.status import show_status
from samuel.watch.watching import has_terminal, watch_run


@command()
def watch(here: CommandContext) -> int:
    """Watch a run in the terminal, and steer it.

    It shows the run that is under way, or the last one: what needs you, the tasks, what the agents do, what hooks
    said, and the cost. Press `?` for the keys. Without a terminal it prints `samuel run status`.

    \b
        samuel run watch
    """
    if here.out.json:
        raise UsageError("`run watch` has no result", "`samuel run status --json` has the state of the run")
    if not has_terminal():
        return show_status(here)
    if why := watch_run(here.root):
        here.out.tell(f"{why}; `samuel run watch` shows the run again")
        return 1
    return 0
