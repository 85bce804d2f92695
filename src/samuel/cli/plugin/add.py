from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import fields_of
from samuel.cli.plugin import plugin_lines
from samuel.cli.plugin.broken_parts import broken
from samuel.cli.plugin.plugin_prompt import asking_options, commit_agreed, show_offers
from samuel.cli.plugin.plugin_store import store_to_change
from samuel.cli.plugin.progress import Progress
from samuel.hooks.capability import Capabilities
from samuel.plugins.candidate import PluginCandidate
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.manifest_capabilities import granted
from samuel.plugins.source import parse
from samuel.plugins.store import Store


class AddOptions(NamedTuple):
    link: bool
    force: bool
    yes: bool
    non_interactive: bool
    dry_run: bool
    grants: Capabilities


class Added(NamedTuple):
    plugin: InstalledPlugin
    text: str
    data: dict[str, Any]


@command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@asking_options
@click.option("--link", is_flag=True, help="Link to a directory instead of copying it, for development.")
@click.option("--force", is_flag=True, help="Replace an installed plugin of the same name.")
@click.option("--dry-run", is_flag=True, help="Show what would be installed, and install nothing.")
@click.option("--continue-on-error", is_flag=True, help="Go on with the others if one cannot be added.")
@click.option(
    *("--grant", "grants"),
    multiple=True,
    metavar="CAPABILITY",
    help="What a plugin without a manifest may do: `network`, `exec`, `filesystem.write=docs/`, `env=TOKEN`.",
)
def add(
    here: CommandContext,
    /,
    sources: tuple[str, ...],
    of_user: bool,
    continue_on_error: bool,
    grants: tuple[str, ...],
    **flags: bool,
) -> int:
    """Install plugins from git or from a directory.

    SOURCE is org/repo, a git URL or ./path, optionally with @branch, @tag or @commit. You see what a plugin may
    do and are asked before anything of it can run.

    \b
        samuel plugin add org/repo@v1
        samuel plugin add ./my-plugin --link
    """
    options = AddOptions(grants=granted(grants), **flags)
    groups = [[source] for source in sources] if continue_on_error else [sources]
    added: list[Added] = []
    failures: list[str] = []
    with Progress(here.out) as progress:
        store = store_to_change(here, of_user, progress)
        for group in groups:
            try:
                added += _add(here, store, progress, group, options)
            except SamuelError as error:
                if not continue_on_error:
                    raise
                failures.append(f"`{group[0]}` was not added: {error}")
    problems = [] if options.dry_run else broken(here, [item.plugin for item in added], store)
    data = [item.data for item in added]
    return here.out.answer(data, *(item.text for item in added), ok=not failures, warnings=[*failures, *problems])


def _add(
    here: CommandContext, store: Store, progress: Progress, sources: Sequence[str], options: AddOptions
) -> list[Added]:
    parsed = [parse(text, here.directory) for text in sources]
    with store.staging_area() as staging_area:
        plan = store.plan_add(staging_area, parsed, link=options.link, force=options.force, grants=options.grants)
        if options.dry_run:
            progress.done()
            show_offers(here, plan)
            return [_added(store, candidate, candidate.plugin, "Would install") for candidate in plan.candidates]
        asking = {"yes": options.yes, "non_interactive": options.non_interactive}
        placed = commit_agreed(here, store, plan, progress, **asking)
        return [_added(store, *both, "Installed") for both in zip(plan.candidates, placed, strict=True)]


def _added(store: Store, candidate: PluginCandidate, plugin: InstalledPlugin, verb: str) -> Added:
    data = {
        **plugin_lines.plain(plugin),
        "path": str(store.plugins / candidate.source.directory),
        **fields_of(candidate.entry, "source", "ref", "commit"),
        "required_by": candidate.required_by,
    }
    return Added(plugin, plugin_lines.counts(plugin, verb), data)
