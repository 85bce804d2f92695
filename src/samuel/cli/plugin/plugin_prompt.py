"""Asking before anything of a plugin can run."""

from __future__ import annotations

import click

from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, options
from samuel.cli.plugin import plugin_lines
from samuel.cli.plugin.progress import Progress
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.store import Plan, Store

global_option = click.option(
    *("-g", "--global", "of_user"), is_flag=True, help="Your own plugins, for all your projects."
)
asking_options = options(
    global_option,
    click.option("--yes", is_flag=True, help="Go on without asking."),
    click.option("--non-interactive", is_flag=True, help="Never ask; fail without --yes."),
)
"""The options of all commands that may have to ask."""


def commit_agreed(
    here: CommandContext, store: Store, plan: Plan, progress: Progress, *, yes: bool, non_interactive: bool
) -> list[InstalledPlugin]:
    """Show what the plan would install, ask for consent, and install it; raises SamuelError without consent."""
    progress.done()
    _agree(here, plan, yes=yes, non_interactive=non_interactive)
    return store.commit(plan, iso(SystemClock().now()))


def _agree(here: CommandContext, plan: Plan, *, yes: bool, non_interactive: bool) -> None:
    candidates = plan.to_agree
    if not candidates:
        return
    if not here.out.json:
        show_offers(here, plan)
    if yes:
        return
    titles = ", ".join(f"`{candidate.title}`" for candidate in candidates)
    if non_interactive or not here.out.asks:
        read = "run it without `--json` and read what it says" if here.out.json else "read the above"
        hint = f"nothing was installed; {read}, then run it with `--yes` or on a terminal"
        raise SamuelError(f"{titles}: installing needs your consent", hint)
    what = "this plugin" if len(candidates) == 1 else f"these {len(candidates)} plugins"
    verb = "Update" if all(candidate.before for candidate in candidates) else "Install"
    if not click.confirm(f"{verb} {what}, and let it run?", err=True):
        raise SamuelError("nothing was installed")


def show_offers(here: CommandContext, plan: Plan) -> None:
    for candidate in plan.to_agree:
        here.out.tell(f"{plugin_lines.offer(candidate)}\n")
