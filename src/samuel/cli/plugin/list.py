from __future__ import annotations

from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.cli.plugin import plugin_lines
from samuel.cli.plugin.plugin_store import all_plugins

COLUMNS = ("name", "location", "skills", "recipes", "hooks")


@command("list")
def list_(here: CommandContext) -> int:
    """List the installed plugins and what they contain.

    \b
        samuel plugin list --json
    """
    plugins = [plugin_lines.plain(plugin, enabled=on) for plugin, on in all_plugins(here.root)]
    if here.out.json:
        here.out.object(plugins)  # the array itself, without an envelope
        return 0
    if not plugins:
        return here.out.answer(plugins, "No plugins are installed.")
    rows = []
    for plugin in plugins:
        where = plugin["location"] if plugin["enabled"] else f"{plugin['location']}, disabled"
        rows.append([plugin["name"], where, *(str(len(plugin[key])) for key in COLUMNS[2:])])
    broken = [f"`{plugin['name']}`: {problem}" for plugin in plugins for problem in plugin["problems"]]
    return here.out.answer(plugins, OutputTable(COLUMNS, rows, underlined=True), warnings=broken)
