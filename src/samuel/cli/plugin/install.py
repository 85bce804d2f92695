from __future__ import annotations

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin import plugin_lines
from samuel.cli.plugin.broken_parts import broken
from samuel.cli.plugin.plugin_prompt import asking_options, commit_agreed
from samuel.cli.plugin.plugin_store import store_to_change
from samuel.cli.plugin.progress import Progress


@command()
@asking_options
def install(here: CommandContext, of_user: bool, yes: bool, non_interactive: bool) -> int:
    """Install the exact plugins that samuel.lock lists.

    Every plugin at its locked commit and content, or nothing at all. You are asked about plugins that you have not
    trusted yet.

    \b
        samuel plugin install
    """
    with Progress(here.out) as progress:
        store = store_to_change(here, of_user, progress)
        with store.staging_area() as staging_area:
            plan = store.plan_install(staging_area)
            placed = commit_agreed(here, store, plan, progress, yes=yes, non_interactive=non_interactive)
    left = [plugin.title for plugin in plan.unchanged]
    blocks = [plugin_lines.counts(plugin) for plugin in placed]
    blocks += [f"{title} is as it was locked." for title in left]
    warnings = [f"`{title}` is not in {store.lock_file.name}, and was left as it is" for title in plan.unlocked]
    warnings += broken(here, [*placed, *plan.unchanged])
    data = {
        "installed": [plugin_lines.plain(plugin) for plugin in placed],
        "unchanged": left,
        "unlocked": list(plan.unlocked),
    }
    nothing = [f"{store.lock_file.name} names no plugins."]
    return here.out.answer(data, *(blocks or nothing), warnings=warnings)
