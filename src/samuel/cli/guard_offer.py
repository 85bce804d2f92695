"""The offer to enable shell_guard, at the end of `samuel init` and `samuel bridge add`."""

from __future__ import annotations

from pathlib import Path

import click

from samuel.cli.command_context import CommandContext
from samuel.process.inside_a_run import inside_a_run
from samuel.setup.hook_switch import bring, hook_file, is_enabled, set_enabled

SHELL_GUARD = "shell_guard"
OFFER = "shell_guard stops commands that delete, overwrite or send away what cannot be brought back."
COMMAND = "`samuel hooks enable shell_guard`"


def offer_guard(here: CommandContext, root: Path, *, ask: bool) -> list[str]:
    """Ask whether to enable shell_guard, on a terminal; elsewhere name the command. Returns lines to print."""
    if is_enabled(root, SHELL_GUARD) or inside_a_run():
        return []
    if not (ask and here.out.asks):
        return [f"{COMMAND} stops dangerous commands of agents; nothing is enabled yet."]
    if not click.confirm(f"{OFFER} Enable it?", default=True, err=True):
        return [f"{COMMAND} enables it later."]
    bring(root, SHELL_GUARD)
    with here.open(root) as app:
        switched = set_enabled(app, hook_file(app, SHELL_GUARD), on=True)
    with here.open(root):  # discovery remembers it, so that it is missed if its file disappears
        pass
    return [f"enabled `shell_guard` in {switched.file}; `samuel hooks rules shell_guard` lists its rules"]
