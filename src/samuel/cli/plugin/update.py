from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin import plugin_lines
from samuel.cli.plugin.broken_parts import broken
from samuel.cli.plugin.plugin_prompt import asking_options, commit_agreed
from samuel.cli.plugin.plugin_store import store_to_change
from samuel.cli.plugin.progress import Progress
from samuel.plugins.candidate import PluginCandidate
from samuel.plugins.installed import InstalledPlugin


@command()
@click.argument("name", required=False, default="", metavar="[NAME]")
@asking_options
def update(here: CommandContext, name: str, of_user: bool, yes: bool, non_interactive: bool) -> int:
    """Update plugins from where they were installed.

    The branch or tag that a plugin was added with is fetched again. What changed is shown, and you are asked
    before any of it can run. Of several plugins, one that cannot be fetched is left as it is; the exit code is
    then 1.

    \b
        samuel plugin update
        samuel plugin update org/repo
    """
    with Progress(here.out) as progress:
        store = store_to_change(here, of_user, progress)
        with store.staging_area() as staging_area:
            plan = store.plan_update(staging_area, name)
            placed = commit_agreed(here, store, plan, progress, yes=yes, non_interactive=non_interactive)
    lines = [_updated(*both) for both in zip(plan.candidates, placed, strict=True)]
    lines += [_left(plugin) for plugin in plan.unchanged]
    warnings = [*plan.failed]
    warnings += [f"`{title}` is not in {store.lock_file.name}, and was left as it is" for title in plan.unlocked]
    missing = [] if name else [plugin.title for plugin in store.all_plugins() if not plugin.directory.exists()]
    warnings += [f"`{title}` is not installed; run `samuel plugin install`" for title in missing]
    data = {
        "updated": [plugin_lines.plain(plugin) for plugin in placed],
        "unchanged": [plugin.title for plugin in plan.unchanged],
        "unlocked": list(plan.unlocked),
        "missing": missing,
        "failed": list(plan.failed),
    }
    text = "\n".join(lines) or "There is nothing to update."
    warnings += broken(here, placed, store)
    return here.out.answer(data, text, ok=not plan.failed, warnings=warnings)


def _updated(candidate: PluginCandidate, plugin: InstalledPlugin) -> str:
    if candidate.before is None:
        return f"Installed {plugin.title}, which {candidate.required_by} requires."
    return f"Updated {plugin.title} from {_which(candidate.before)} to {_which(plugin)}."


def _left(plugin: InstalledPlugin) -> str:
    if plugin.linked:
        return f"{plugin.title} is linked, and always what is in {plugin.linked}."
    return f"{plugin.title} is up to date: {_which(plugin)}."


def _which(plugin: InstalledPlugin) -> str:
    commit = plugin.locked.commit[:12] if plugin.locked else ""
    return " at ".join(filter(None, (plugin.manifest.version, commit))) or "the installed version"
